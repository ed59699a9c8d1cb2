/**
 * What the Worker carries with it: the page for people at `/`, the script by which it verifies this
 * node (made by `npm run bundle-verifier`), and the OpenAPI description (made by `npm run
 * openapi`).
 */

import { type Answer, jsonAnswer } from '../answer.ts';
import openapi from './openapi.json';
import page from './page.html';
import verifier from './verifier.json';

/** The page's own scripts and style, requests to this node, and nothing else. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'self'",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export async function answerPage(): Promise<Answer> {
  return {
    body: page,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAGE_POLICY },
  };
}

export async function answerVerifier(): Promise<Answer> {
  return { body: verifier, headers: { 'content-type': 'text/javascript; charset=utf-8' } };
}

export async function answerOpenApi(): Promise<Answer> {
  return jsonAnswer(openapi);
}
