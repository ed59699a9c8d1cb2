#!/usr/bin/env node
/**
 * What `npx stardust-edge` starts: npm copies this folder to node_modules/stardust-edge. If
 * package.json of the project named the command, npx would install the project for each user, and
 * change the mode of cli/stardust-edge.js, which only its owner may.
 */
import '../../cli/stardust-edge.js';
