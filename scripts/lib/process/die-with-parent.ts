/**
 * Loaded into a process that child.ts starts, with a channel to its parent and in a process group
 * of its own. The channel closes when the parent dies, even by SIGKILL; then the group is killed.
 */
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'));
// the listener alone must not keep the process alive
process.channel?.unref();
