package sqlitevfs

// syncsFolders is false where folders cannot be opened for syncing: SQLite's own VFS for Windows
// does not sync them either.
const syncsFolders = false
