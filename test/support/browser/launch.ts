/**
 * Debian's Chromium and Firefox, headless, driven by Puppeteer: by the protocol of DevTools, and by
 * WebDriver BiDi. CHROMIUM and FIREFOX name others.
 */
import { existsSync } from 'node:fs';
import { type Browser, launch } from 'puppeteer-core';
import { IS_SLOW, startSlowProxy } from './slow-network.ts';

/** It is root who runs it in CI, and it is to reach for nothing but the page. */
const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export async function launchChromium(): Promise<Browser> {
  return launch({
    browser: 'chrome',
    executablePath: findBrowser('chromium', 'CHROMIUM'),
    args: [
      ...CHROMIUM_FLAGS,
      ...(IS_SLOW
        ? [`--proxy-server=127.0.0.1:${await startSlowProxy()}`, '--proxy-bypass-list=<-loopback>']
        : []),
    ],
  });
}

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
    extraPrefsFirefox: {
      ...PREFERENCES,
      ...(IS_SLOW && slowPreferences(await startSlowProxy())),
      ...preferences,
    },
  });
}

function slowPreferences(port: number) {
  return {
    'network.proxy.type': 1,
    'network.proxy.http': '127.0.0.1',
    'network.proxy.http_port': port,
    'network.proxy.ssl': '127.0.0.1',
    'network.proxy.ssl_port': port,
    'network.proxy.allow_hijacking_localhost': true,
  };
}

/** The path of the Debian package's program, or of the one that the variable names. */
function findBrowser(debianPackage: string, variable: string): string {
  const path = process.env[variable] ?? `/usr/bin/${debianPackage}`;
  if (existsSync(path)) return path;
  throw new Error(
    `there is no ${path}: apt-get install ${debianPackage}, or name one with ${variable}=/path/to/it`,
  );
}
