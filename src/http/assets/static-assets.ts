/**
 * What the Worker carries with it: the page for people at `/`, the script by which it verifies this
 * node (made by `npm run bundle-verifier`), and the OpenAPI description (made by `npm run
 * openapi`).
 */

import { type Answer, jsonAnswer } from '../answer.ts';
import type { Operations, RouteTable } from '../openapi/operation.ts';
import openapi from './openapi.json';
import page from './page.html';
import verifier from './verifier.json';

export const assetRoutes = {
  describeApi: { method: 'GET', path: '/openapi.json', handle: answerOpenApi },
  showPage: { method: 'GET', path: '/', handle: answerPage },
  readVerifier: { method: 'GET', path: '/verifier.js', handle: answerVerifier },
} satisfies RouteTable;

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

async function answerPage(): Promise<Answer> {
  return {
    body: page,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAGE_POLICY },
  };
}

async function answerVerifier(): Promise<Answer> {
  return { body: verifier, headers: { 'content-type': 'text/javascript; charset=utf-8' } };
}

async function answerOpenApi(): Promise<Answer> {
  return jsonAnswer(openapi);
}

export function describeAssets(): Operations<typeof assetRoutes> {
  return {
    describeApi: {
      tag: 'node',
      summary: 'This description',
      answer: { description: 'OpenAPI 3.1.', schema: { type: 'object' } },
    },
    showPage: {
      tag: 'node',
      summary: 'A page for people',
      answer: { description: 'The page.', type: 'text/html' },
    },
    readVerifier: {
      tag: 'node',
      summary: 'The script by which the page verifies this node',
      answer: { description: 'A module.', type: 'text/javascript' },
    },
  };
}
