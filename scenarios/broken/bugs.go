package broken

// Bug is one mistake.
type Bug struct {
	Name string // how command lines call it
	Rule string // the rule that must catch it
	What string // what the journal does wrong
	Base string // the journal that it is made in
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
	Surrogate      = "surrogate"
	KeptCancel     = "kept-cancel"
)

// The mistakes of the journal with checksums.
const (
	WatermarkZero   = "watermark-zero"
	WatermarkCached = "watermark-cached"
	SumReencoded    = "sum-reencoded"
)

// The mistakes of the snapshot journal.
const (
	RenameFirst      = "rename-first"
	TruncatesInPlace = "truncates-in-place"
	EmptyIsNew       = "empty-is-new"
)

// Bugs are all the mistakes.
func Bugs() []Bug {
	return []Bug{
		{LostFsync, "UP201", "append returns without syncing the file", Lines},
		{EarlyAck, "UP201", "append returns first and syncs at the next call", Lines},
		{LateNewline, "UP201", "the newline is written after the sync and the acknowledgement, with the next record", Lines},
		{GluedTail, "UP206", "open leaves a torn tail in place, and the next record is appended to it", Lines},
		{CutNotSynced, "UP202", "open cuts the torn tail and appends with one sync for both, so that a torn page can forge a line", Lines},
		{SkipsBadLine, "UP203", "a line that does not parse is skipped, and what follows is returned", Lines},
		{NoDirSync, "UP211", "the folder is never synced, so the file's name may be lost", Lines},
		{MarkersSwapped, "UP210", "compaction writes the world state in front of the compacted marker", Lines},
		{SecondOpener, "UP212", "open takes no lock, so a second writer is let in", Lines},
		{StaleHandle, "UP212", "the open file is never compared with the one that has the name: after an outside rotation it goes on writing the old one", Lines},
		{FsyncIgnored, "UP209", "the error of the sync behind an append is dropped", Lines},
		{FsyncRetried, "UP209", "a sync that failed is tried once more, and trusted when it then succeeds", Lines},
		{ShortWrite, "UP209", "a write that took fewer bytes than it was given, without an error, counts as done", Lines},
		{DebrisLeft, "UP209", "a full disk cuts a record in half, and when there is room again the next one is appended behind the half", Lines},
		{SequenceReused, "UP206", "open counts one record too few, and the next one gets a number that is taken", Lines},
		{HalfLine, "UP202", "a last line without its newline counts as a record, whatever is there of it", Lines},
		{ScannerReader, "UP213", "one reader splits lines with a bufio.Scanner: it stops at 64 KiB, drops a CR, and takes half a line for a line", Lines},
		{NoSyncAtOpen, "UP207", "open returns what a killed process left in the page cache, and does not sync it", Lines},
		{RewritesLine, "UP201", "open cuts the last line, which is good, and writes it again", Lines},
		{LockFile, "UP212", "the lock is a file that has to be removed: when its owner is killed, nobody can open the journal any more", Lines},
		{NotIdempotent, "UP207", "open cuts a torn tail and, to be safe, the line in front of it, which a recovery had returned", Lines},
		{RecoveryWrites, "UP208", "a recovery that only reads cuts the torn tail off", Lines},
		{ReadErrorIsEnd, "UP213", "a read that fails is taken for the end of the file", Lines},
		{Surrogate, "UP202", "a record goes through a decoder that puts another character in place of half a surrogate pair", Lines},
		{KeptCancel, "UP210", "a compaction that was given up leaves its marker in the log, and counts as done", Lines},
		{WatermarkZero, "UP203", "the mark of what is durable is always 0, so that no damage is told from a tail", Sums},
		{WatermarkCached, "UP205", "the mark counts bytes that a killed process left in the page cache and that open did not sync", Sums},
		{SumReencoded, "UP203", "the checksum is that of the decoded value, encoded once more: bytes that the decoder overlooks may change", Sums},
		{RenameFirst, "UP205", "the new file is renamed into place before it is synced", Snapshot},
		{TruncatesInPlace, "UP205", "the file is cut to nothing and written anew, with no second file", Snapshot},
		{EmptyIsNew, "UP208", "an open takes an empty file for a new session, and writes over it", Snapshot},
	}
}
