// Package faultfs is a file system layer that records what a program does and breaks it on
// purpose. [New] puts it over any [afero.Fs]; the program under test is given the layer and
// does not know.
//
// # What is recorded
//
// Every call that changed bytes, sizes or names, every sync of a file or folder (failed ones
// too), each lock taken and let go, and the application's notes, in one [trace.Log], in the
// order in which they took effect. Reads, opens, closes and stats change nothing and are not
// recorded, but rules match them. A call that failed and did nothing is recorded only if a
// fault made it fail. Written bytes are copied.
//
// # Plans
//
// A [Plan] says what to break. It prints as the text that [ParsePlan] reads: a rule a line,
// words parted by blanks, # begins a comment, a word with blanks in it is quoted as in Go.
//
//	WHEN   CALL  PATH     NTH -> FAULT
//	after  sync  *.jsonl  3   -> kill
//	inside write *.jsonl  2   -> cut 17
//	on     write *        4+  -> enospc
//	on     sync  *        1   -> fail-clean
//	before note  "append 7 called" 1 -> kill
//	on     read  *        2   -> short 3
//	after  sync  *.jsonl  2   -> flip 120.3
//
// WHEN is before, inside, after (the call is done and its caller has not heard of it) or on
// (the call comes out differently). CALL is a [Call]. PATH is a glob, see [Rule]; for a note
// it is held against the text. NTH counts the calls that the rule matches: 3, 3+ or *.
//
// FAULT is one of:
//
//	kill [N]              before, inside, after: everything later fails with ErrKilled
//	sigkill [N]           the same for real; N bytes of the write that is hit reach the file
//	cut N [silent|unseen] inside a write: N bytes reach the file, the program goes on
//	short N [silent]      on a write or read
//	eio erofs eacces      on any call
//	ewouldblock           on any call, meant for lock
//	enospc [N]            on any call; N bytes of a write reach the file
//	full [BLOCKS]         on a write: cut at a block boundary, then nothing fits, then it does
//	slow TIME             on any call, or after it: done, and its caller has not heard of it
//	fail-clean fail-ro fail-shutdown fail-false fail-late lied
//	                      on sync and syncdir, see trace.SyncResult
//	flip OFF.BIT, nul OFF LEN, delete OFF LEN, badutf8 OFF, splice OFF LEN TEXT, truncate OFF,
//	bom, crlf, duplicate LINE, dropline LINE, swap LINE LINE, repeat LINE LINE, again
//	                      before or after any call: damage to its file, or to another: bom in /a/b
//
// splice puts TEXT in place of LEN bytes: that makes another digit, type or version, a raw newline
// in a string, half a surrogate pair, or a member that stands twice. repeat puts a copy of the first line
// in front of the second (one more than there are: behind the last), again the whole content behind
// itself: a sequence that starts anew.
//
// A negative N or OFF counts from the end: "cut -1" loses the last byte. A rule that never
// fired has tested nothing; [FS.Unused] lists those.
package faultfs
