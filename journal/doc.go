// Package journal is an append-only log of an agent's session, one JSON object a line, that
// says after any crash exactly what it still has.
//
// # Lines
//
// A line is one JSON object and the byte 0x0A, which nothing else ends and which stands nowhere
// inside. Its members are, in this order and without white space between them:
//
//		{"schema_version":1,"sequence":7,"session_id":"garden",
//		 "event_id":"transcript:garden:7","recorded_at":"2026-08-20T09:00:07Z",
//		 "type":"message", …the payload's members…,
//		 "durable":1290,"prev":"0b5e1c77","crc":"9d2f00a1"}
//
//	  - sequence counts the lines from 1;
//	  - durable is how many bytes of the log were known to be on disk when the line was written,
//	    counted from the start of the first file;
//	  - prev is the crc of the line in front (of the first line: the CRC-32C of all bytes in front
//	    of it, 00000000 if there are none);
//	  - crc is the CRC-32C, in eight lower-case hexadecimal digits, of the line's bytes in front of
//	    the comma before "crc".
//
// So each line verifies by itself, and a lost, repeated or reordered one shows in sequence and
// prev. The text is UTF-8 without lone surrogates, and no object has a key twice.
//
// Lines without a crc, of other writers, are accepted up to the first line that has one, and
// counted as unchecked. Members of their envelope may be missing, but once there they must stay.
// Lines of type "checkpoint" belong to the log: they take a sequence, their durable is their own
// offset, and they are never events.
//
// # Files
//
// After [Options].SegmentLines lines the log goes on in <stem>_2<ext>, <stem>_3<ext>, …; sequence,
// prev and durable run on. A segment is synced, up to a checkpoint, before the next file is made,
// so the existence of a segment vouches for all of the one before. Files have mode 0600, folders
// that Open makes 0700. A log is copied by copying its files.
//
// # Promise
//
// When [Journal.Append] returns nil, its events are on disk: bytes, file name and the name of every
// folder up to [Options].Root. Events of one call stand together; after a crash in the call any
// prefix of them may be there. After a write that failed the file is cut back to what was
// acknowledged; when that fails, or a sync failed, the journal acknowledges nothing more until it
// is opened again. Before each acknowledgement the writer makes sure that its file is still the
// one under its name and has the size that it must have.
//
// On Windows there is no way to sync a folder, so none is synced there: a power cut may lose the
// name of a new file. Elsewhere a file system that cannot do it is an [*UnsupportedError].
//
// # Recovery
//
// The first place at which bytes, sequence or prev fail is the bad place, at offset o. From there
// the reader looks, at every newline and at every {"schema_version": (which cannot stand inside a
// JSON string), for lines that verify by themselves. It is damage, certainly, if
//
//   - such a line's durable is greater than o: it vouches for the bytes there;
//   - such a line stands where no writer can have put it: at o itself, or behind it with a
//     sequence that is used up;
//   - such a line is of another session;
//   - a line there is a whole JSON object without a crc, and lines with one stand in front;
//   - another segment follows.
//
// Otherwise a crash that interrupted an append may have left it, and the contract decides.
// [Strict]: an incomplete last line without a newline is forgiven and reported as the [Tail];
// everything else is a [*CorruptError] whose Vouched is false. [Watermark]: everything from o on
// is the tail. Lines without a crc are always read by the strict rule, and so is a file that does
// not begin as a journal does. A whole, verified last line that lacks only its newline is a record.
//
// Open keeps the bytes of a tail in <file>.tail-<offset>, cuts the tail, writes what no line
// vouches for in its place once more (after a failed fsync it may be in memory only), syncs, and
// only then appends. Recover writes nothing and takes no lock.
//
// # What no reader can see
//
// The last batch of a log that was not closed, and that nothing was appended to since, is vouched
// for by nothing: damage to it looks like a crash (Strict reports what has a newline, Watermark takes
// it for a tail; [Journal.Checkpoint] and [Journal.Close] close this window). A log that was set back to an
// older whole state, or whose newest file is missing, looks like that older state.
package journal
