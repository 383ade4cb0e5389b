package ptypool

import (
	"errors"
	"os"
	"testing"
)

// A search ends after so many descriptors, and not after some time: a busy machine takes longer for
// the same ones, and a person would count as a process inside a terminal.
func TestASearchIsBoundedByWhatThereIsAndNotByTime(t *testing.T) {
	left := maxSearched
	if _, err := held(os.Getpid(), nil, &left); err != nil {
		t.Fatal(err)
	}
	looked := maxSearched - left
	if looked < 3 {
		t.Fatalf("%d descriptors were looked at", looked)
	}
	left = looked / 2
	if _, err := held(os.Getpid(), nil, &left); !errors.Is(err, ErrSearch) {
		t.Errorf("with room for fewer: %v", err)
	}
}
