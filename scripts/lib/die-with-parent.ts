/**
 * Loaded into a process that was started with a channel to its parent and a process group of its own: when the parent is gone, however it went, so is the group.
 */
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'));
// listening must not keep a process alive that is done
process.channel?.unref();
