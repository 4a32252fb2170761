package oracle

// Rule is a promise with a stable ID.
type Rule struct {
	ID      string
	Name    string
	What    string // one sentence: what must hold
	Risk    string // what a user loses when it does not
	Next    string // what the journal's author does about it
	Vacuity bool   // not a promise of the journal: the run itself tested nothing
}

// Rules are all the rules that this suite checks, in the order of their IDs.
func Rules() []Rule {
	return []Rule{
		{
			ID: "UP201", Name: "acknowledged record lost",
			What: "Every acknowledged record is in what recovery returns; under model synced, recovery returns exactly the records covered by a completed sync.",
			Risk: "A user is told that something is saved, and after a power cut or a kill it is gone.",
			Next: "Sync the file before the call returns, check the sync's error, and look in the story for the first sync that is missing.",
		},
		{
			ID: "UP202", Name: "record invented or out of order",
			What: "What recovery returns is a prefix of what was appended: in order, byte for byte, nothing twice, nothing that was never appended.",
			Risk: "The journal hands out a history that never happened; a replay acts on it.",
			Next: "Verify each line (checksum, sequence), cut a torn tail and sync the cut before the next append, and never skip a bad line.",
		},
		{
			ID: "UP203", Name: "silent damage",
			What: "Damage to synced bytes that the contract says it detects is answered with a typed corruption error, never with fewer or other records.",
			Risk: "A damaged record is taken for the truth, or acknowledged records vanish without a word.",
			Next: "Fail closed on a bad line that is not an unterminated tail; give each line a checksum over its raw bytes.",
		},
		{
			ID: "UP204", Name: "tail not honestly reported",
			What: "Recovery reports a partial tail, with offset and length, exactly when bytes follow the last accepted line.",
			Risk: "Nobody learns that bytes were left aside, or an alarm is raised over a clean file.",
			Next: "Report offset and length of what follows the last accepted line, up to the end of the file; report nothing when nothing follows.",
		},
		{
			ID: "UP205", Name: "legal crash state refused",
			What: "A state that the model allows opens, unless the contract accepts refusal there (then it is counted as refused).",
			Risk: "A session that a crash only interrupted can no longer be opened at all.",
			Next: "Tell a torn tail from damage: only what a synced, later line vouches for is certainly damage.",
		},
		{
			ID: "UP206", Name: "does not go on after recovery",
			What: "After recovery one more append is durable, and the next recovery returns what was there plus it.",
			Risk: "The worst losses come here: the new record is glued to an old torn tail and both are lost.",
			Next: "Cut the tail (or end its line), sync, and only then append.",
		},
		{
			ID: "UP207", Name: "recovery not idempotent",
			What: "What an open for writing returned, the next recovery returns again; after a cut inside it, nothing acknowledged is missing and nothing is new.",
			Risk: "Each restart shows another history.",
			Next: "Sync what an open accepts before building on it; make repair steps repeatable.",
		},
		{
			ID: "UP208", Name: "hands not off",
			What: "A failed open changes no byte and no name; a read-only open never writes and takes no lock.",
			Risk: "The evidence is destroyed by the attempt to read it.",
			Next: "Verify everything first, and write only when the open will succeed; give readers a path without repair.",
		},
		{
			ID: "UP209", Name: "went on after an error",
			What: "After a failed write or sync no record is acknowledged until the journal has cut back and synced, or was reopened and verified; a retried sync that succeeds proves nothing.",
			Risk: "The kernel dropped the bytes when the first sync failed; everything acknowledged since stands on a page that never reaches the disk.",
			Next: "Poison the journal at the first failed write or sync, or cut back to the last good length, sync that, and check; never retry the sync alone.",
		},
		{
			ID: "UP210", Name: "compaction torn apart",
			What: "After a cut between compaction markers there is the state before, the new history with its unwritten baselines null, or the full state after.",
			Risk: "The model is given a baseline that belongs to another history.",
			Next: "Write the compacted marker first, as the commit point, and clear older baselines when it is read.",
		},
		{
			ID: "UP211", Name: "name lost",
			What: "A journal that was created, rotated or replaced keeps its name: every folder level is synced before the first acknowledgement.",
			Risk: "The whole file is gone, although every byte of it was synced.",
			Next: "Sync the folder, and every new folder above it, after creating or renaming a file.",
		},
		{
			ID: "UP212", Name: "more than one writer",
			What: "The second opener for writing is refused before it writes anything; a file that is renamed, truncated or removed under an open journal is noticed before the next acknowledgement.",
			Risk: "Two processes number, cut and glue each other's lines, or acknowledge into a file that nobody will ever open.",
			Next: "Lock the journal's own file before reading it, and before each acknowledgement compare the open file with the one that has the name.",
		},
		{
			ID: "UP213", Name: "readers disagree",
			What: "List, tail, replay and verify give one verdict for the bytes that each of them covers, however small the pieces in which a read returns them; a failed read is an error, never an end.",
			Risk: "The list shows a session that the resume cannot open, or a verify calls good what a replay loses.",
			Next: "Let every reader use one line splitter, read until io.EOF, and pass on every other error.",
		},
		{
			ID: "UP401", Name: "no operations", Vacuity: true,
			What: "The run saw file operations of the journal.",
			Risk: "A green result that tested nothing.",
			Next: "Make the journal use the file system that it is given (a journal that calls package os directly needs another way in).",
		},
		{
			ID: "UP402", Name: "no syncs", Vacuity: true,
			What: "The run saw at least one completed sync.",
			Risk: "Nothing was ever durable, so nothing could be lost.",
			Next: "Let the workload sync, or look why the journal never does.",
		},
		{
			ID: "UP403", Name: "nothing cut", Vacuity: true,
			What: "The run judged at least one crash state.",
			Risk: "A green result that tested nothing.",
			Next: "Raise the budget, or loosen --cut so that some cut matches.",
		},
		{
			ID: "UP404", Name: "nothing recovered", Vacuity: true,
			What: "At least one judged state gave a record back.",
			Risk: "A recovery that always returns nothing passes every rule about what it returns.",
			Next: "Look whether Recover reads the path that Open wrote.",
		},
		{
			ID: "UP405", Name: "plan rule never applied", Vacuity: true,
			What: "Every rule of the fault plan fired at least once.",
			Risk: "A fault that was meant to be tested never happened.",
			Next: "Check the rule's path pattern and count against the ops in the trace.",
		},
		{
			ID: "UP406", Name: "goroutines left behind",
			What: "After Close and after Recover no goroutine of the subject is left running.",
			Risk: "Every open leaks; a leftover goroutine may write into the next session.",
			Next: "Stop and await the journal's own goroutines in Close, and on every error path of Open and Recover.",
		},
		{
			ID: "UP407", Name: "outside its folder",
			What: "The subject changes nothing outside the folder of its path (making and syncing the folders above it is no change).",
			Risk: "What it leaves elsewhere is not part of any crash state that was judged, and a user does not expect it there.",
			Next: "Derive every file's name from the path that Open was given.",
		},
	}
}

// FindRule looks a rule up by ID.
func FindRule(id string) (Rule, bool) {
	for _, r := range Rules() {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}
