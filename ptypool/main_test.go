package ptypool

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if other, ok := otherPrograms()[os.Args[1]]; ok {
			os.Exit(other(os.Args[2:]))
		}
	}
	goleak.VerifyTestMain(m)
}
