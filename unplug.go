// Package unplug is the root of a crash-consistency test harness and fault injector for
// append-only journals. There is nothing in it to import; what there is stands below it:
//
//   - package scenarios puts a journal of yours through the whole suite in a test;
//   - command cmd/unplug tortures journals, replays findings and examines files;
//   - package journal is the reference journal;
//   - package faultfs records what a program does to its files and breaks it on purpose,
//     and faultfs/crash says what a crash may leave.
//
// README.md says what a result proves and what it does not.
package unplug
