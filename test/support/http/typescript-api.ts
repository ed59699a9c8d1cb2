/** The JavaScript API of TypeScript, in place of the package `typescript` (generate-types.ts). */
import { ts } from '@ts-morph/common';

export default ts;
