/**
 * Debian's Firefox, headless, driven by WebDriver BiDi through Puppeteer. FIREFOX names another
 * one.
 *
 * Playwright drives only a Firefox of its own making, which is not the one that people have.
 */
import { type Browser, launch } from 'puppeteer-core';
import { findBrowser } from './find-browser.ts';

/** With it Firefox crashes when it connects to anything but loopback. */
const LOOPBACK_ONLY = { MOZ_DISABLE_NONLOCAL_CONNECTIONS: '1' };

/**
 * A driven Firefox has its updates, telemetry, safe browsing and so on off already. This last
 * service has only a host that does not exist, and would ask the resolver for it.
 */
const PREFERENCES = { 'services.settings.server': 'data:,#remote-settings-dummy/v1' };

/** @param preferences of about:config, besides those that every test needs */
export async function launchFirefox(preferences: Record<string, number> = {}): Promise<Browser> {
  return launch({
    browser: 'firefox',
    executablePath: findBrowser('firefox-esr', 'FIREFOX'),
    env: { ...process.env, ...LOOPBACK_ONLY },
    extraPrefsFirefox: { ...PREFERENCES, ...preferences },
  });
}
