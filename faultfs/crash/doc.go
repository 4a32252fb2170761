// Package crash says what a crash may leave on disk. A [History] is what a disk went
// through, a [Model] a set of rules, a [Cut] the moment; the [Space] of the three is every
// image that the rules allow then: it counts them, walks them, draws samples, and tells
// whether some image is one of them.
//
// # Atoms
//
// The history is taken apart into atoms:
//
//   - d(i,u,t), data: unit u of inode i as the page cache held it after op t. A unit is
//     [Options.Tear] bytes. The versions of one unit form a chain, and a state shows exactly
//     one of them, at or after the durable one.
//   - z(i,s,t), size: one step of the size of i. A write that extends a file from a to e
//     makes one step for each page boundary between them, then one to e. A truncate makes one
//     step, and a data atom that zeroes the rest of the page that the new end lies in. A page
//     is 4096 bytes, whatever the unit.
//   - n(t), names: one change of a folder (create, rename, remove, link), or of a mode.
//
// A state is a metadata cut m (how many size steps of each inode, how many name changes)
// and, for each unit inside the sizes of m, one version that m allows. Bytes past the size
// are invisible. A unit inside the size that was never written reads as zeros. A file
// whose names are not in the state is not visible.
//
// # Edges
//
// Any atom may reach the disk early, as far as these edges let it:
//
//   - The size steps of one inode are ordered.
//   - A completed sync of a file makes its earlier data and size steps durable: sizes and
//     versions go no further back. Except under posix-worst and synced it persists the
//     file's names and the folders made to hold them too.
//   - A completed sync of a folder makes the earlier name changes in it durable.
//   - Name changes form one chain over the whole history (but not under posix-worst). A
//     rename of bytes that were never synced may so leave an empty file.
//   - A truncate frees the pages wholly beyond the new size. As long as it has not taken
//     effect they show versions from before it (what is written there later goes to other
//     blocks); once it has, never again. The page that survives is one chain throughout, so
//     the old size may show over bytes that were written after the truncate. The zeroing
//     comes before the truncate (but not under writeback and posix-worst).
//
// What a size needs is the difference between the models. It is asked of the last size step
// that took effect, of op t, whose last byte lies in page q:
//
//   - contiguous: every unit below the size, as of t or newer.
//   - own-page: the units of q, as of t or newer.
//   - ext4-ordered: each page up to q that got its block from a pending write up to t, as of
//     that write or newer. Nothing of pages that had a block before. Names and size steps of
//     all files are one chain, in program order.
//   - ext4-ooo: as ext4-ordered, but only page q. Names and sizes are apart.
//   - writeback: nothing.
//
// ReplaceFlush (on for contiguous and ext4-*) makes the bytes and sizes of a precede a
// rename of a over an existing b.
//
// The models at the ends:
//
//   - kill: one state at a boundary; in an op, nothing, all of it, or a write cut at a
//     multiple of the unit in the file. Syncs play no part.
//   - synced: one state. Contents and sizes as of each file's last completed sync, names as
//     of their folder's, a file that was never synced is empty.
//   - prefix: data and size are one, and everything is one chain in program order; a write
//     may be cut at any byte (or multiple of the unit), a truncate or a name change may not.
//   - posix-worst: each directory entry and each mode is independent, and shows what any
//     subset of its changes would leave; a rename is three changes (the target goes, the
//     source goes, the new name comes). A folder has at most one name. In a unit any subset
//     of the pending writes may have taken effect. A sync of a file persists no name.
//   - lying-flush: another model, but the last completed syncs made nothing durable.
//
// # Failed syncs
//
// The result of a sync in the trace adds a transition to any of the models of power cuts:
// fail-clean and fail-late drop the file's pending bytes for good (its size persists; what
// was not written before becomes zeros; later writes bring only their own bytes); fail-ro
// ends the history at what was durable; fail-shutdown ends it with what is pending;
// fail-false counts as completed. A sync that lied, or that just failed, is no edge.
//
// # Counting
//
// With c_u(m) the number of different contents that unit u may have,
//
//	N = Σ_m Π_u c_u(m)
//
// over metadata cuts. Contents that are equal inside the size are merged, and of two cuts
// with the same names and sizes the later one keeps only the states that the first has not.
// So states are different images, except that two names of one file are told apart from two
// equal files, which an image's hash does not do; and that under posix-worst two files that
// follow each other under one name count apart where their writes overlap differently.
//
// # Growth
//
// Spaces grow as products do. [Space.Count] is exact and costs no walk; [Space.All] is for
// small ones, [Space.Sample] for the rest; where a space would not fit any memory,
// [Space.Narrowed] says what was left out. [Epochs] gives the few cuts of a history at which
// a power cut has to be tried.
package crash
