/** Base64 (RFC 4648, section 4), by the platform's functions (Node 25, browsers of 2025) if any. */

/** Throws a SyntaxError if the text is not base64. */
export const fromBase64: (text: string) => Uint8Array<ArrayBuffer> =
  'fromBase64' in Uint8Array
    ? (text) => Uint8Array.fromBase64!(text)
    : (text) => {
        // both take white space between the digits; two loops over it would be quadratic
        const digits = text.replaceAll(/[\t\n\f\r ]/g, '');
        if (!/^[A-Za-z0-9+/]*={0,2}$/.test(digits)) throw new SyntaxError('not base64');
        try {
          return Uint8Array.from(atob(digits), (character) => character.charCodeAt(0));
        } catch (error) {
          throw new SyntaxError('not base64', { cause: error });
        }
      };

export const toBase64: (bytes: Uint8Array) => string =
  'toBase64' in Uint8Array.prototype
    ? (bytes) => bytes.toBase64!()
    : (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
