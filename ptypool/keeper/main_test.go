package keeper

import (
	"fmt"
	"log"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The test binary is run as other programs, too: see TestMain.
const (
	asKeeper = "test-keeper" // DIR LINGER
	asDialer = "test-dialer" // DIR: connects and says how that went
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case asKeeper:
			os.Exit(runKeeper(os.Args[2], os.Args[3]))
		case asDialer:
			_, err := Dial(os.Args[2], "dialer")
			fmt.Println(err)
			os.Exit(0)
		}
	}
	goleak.VerifyTestMain(m)
}

// runKeeper is a keeper process.
func runKeeper(dir, linger string) int {
	ready := os.NewFile(ReadyFD, "ready")
	d, err := time.ParseDuration(linger)
	if err == nil {
		err = Serve(Isolate(), Config{
			Dir: dir, Version: "test", Linger: d, Ready: func() { ready.Close() },
			Log: log.New(os.Stderr, "", log.LstdFlags),
		})
	}
	if err != nil {
		fmt.Fprintln(ready, err)
		return 1
	}
	return 0
}
