package ptypool

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"termhost/ahp/hosttest/slowtest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if other, ok := otherPrograms()[os.Args[1]]; ok {
			os.Exit(other(os.Args[2:]))
		}
	}
	slowtest.Overlap()
	goleak.VerifyTestMain(slowtest.Reporting(m))
}
