package broken

// Bug is one mistake.
type Bug struct {
	Name string // how command lines call it
	Rule string // the rule that must catch it
	What string // what the journal does wrong
}

// The mistakes of the line journal, by name.
const (
	LostFsync      = "lost-fsync"
	EarlyAck       = "early-ack"
	LateNewline    = "late-newline"
	GluedTail      = "glued-tail"
	CutNotSynced   = "cut-not-synced"
	SkipsBadLine   = "skips-bad-line"
	NoDirSync      = "no-dir-sync"
	MarkersSwapped = "markers-swapped"
	SecondOpener   = "second-opener"
	StaleHandle    = "stale-handle"
	FsyncIgnored   = "fsync-ignored"
	FsyncRetried   = "fsync-retried"
	ShortWrite     = "short-write"
	DebrisLeft     = "debris-left"
	SequenceReused = "sequence-reused"
	HalfLine       = "half-line"
	ScannerReader  = "scanner-reader"
	NoSyncAtOpen   = "no-sync-at-open"
	RewritesLine   = "rewrites-line"
	LockFile       = "lock-file"
	NotIdempotent  = "not-idempotent"
	RecoveryWrites = "recovery-writes"
	ReadErrorIsEnd = "read-error-is-end"
)

// Bugs are all the mistakes.
func Bugs() []Bug {
	return []Bug{
		{LostFsync, "UP201", "append returns without syncing the file"},
		{EarlyAck, "UP201", "append returns first and syncs at the next call"},
		{LateNewline, "UP201", "the newline is written after the sync and the acknowledgement, with the next record"},
		{GluedTail, "UP206", "open leaves a torn tail in place, and the next record is appended to it"},
		{CutNotSynced, "UP202", "open cuts the torn tail and appends with one sync for both, so that a torn page can forge a line"},
		{SkipsBadLine, "UP203", "a line that does not parse is skipped, and what follows is returned"},
		{NoDirSync, "UP211", "the folder is never synced, so the file's name may be lost"},
		{MarkersSwapped, "UP210", "compaction writes the world state in front of the compacted marker"},
		{SecondOpener, "UP212", "open takes no lock, so a second writer is let in"},
		{StaleHandle, "UP212", "the open file is never compared with the one that has the name: after an outside rotation it goes on writing the old one"},
		{FsyncIgnored, "UP209", "the error of the sync behind an append is dropped"},
		{FsyncRetried, "UP209", "a sync that failed is tried once more, and trusted when it then succeeds"},
		{ShortWrite, "UP209", "a write that took fewer bytes than it was given, without an error, counts as done"},
		{DebrisLeft, "UP209", "a full disk cuts a record in half, and when there is room again the next one is appended behind the half"},
		{SequenceReused, "UP206", "open counts one record too few, and the next one gets a number that is taken"},
		{HalfLine, "UP202", "a last line without its newline counts as a record, whatever is there of it"},
		{ScannerReader, "UP213", "one reader splits lines with a bufio.Scanner: it stops at 64 KiB, drops a CR, and takes half a line for a line"},
		{NoSyncAtOpen, "UP207", "open returns what a killed process left in the page cache, and does not sync it"},
		{RewritesLine, "UP201", "open cuts the last line, which is good, and writes it again"},
		{LockFile, "UP212", "the lock is a file that has to be removed: when its owner is killed, nobody can open the journal any more"},
		{NotIdempotent, "UP207", "open cuts a torn tail and, to be safe, the line in front of it, which a recovery had returned"},
		{RecoveryWrites, "UP208", "a recovery that only reads cuts the torn tail off"},
		{ReadErrorIsEnd, "UP213", "a read that fails is taken for the end of the file"},
	}
}
