// Package drops keeps the files that people give to the programs of terminals: a picture that is
// pasted into a page, what `ssh HOST drop` reads. Each terminal has a private folder, mode 0700,
// below the state folder. It goes with the terminal, and a file goes after a day.
//
// A file gets its name when all of it has come, so that a program never finds half of one.
package drops
