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
	asNext   = "test-next"   // DIR LINGER: a keeper that waits for the end of another
	asDialer = "test-dialer" // DIR: connects and says how that went
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case asKeeper, asNext:
			os.Exit(runKeeper(os.Args[2], os.Args[3], os.Args[1] == asNext))
		case asDialer:
			_, err := Dial(os.Args[2], "dialer")
			fmt.Println(err)
			os.Exit(0)
		}
	}
	goleak.VerifyTestMain(m)
}

// runKeeper is a keeper process.
func runKeeper(dir, linger string, await bool) int {
	ready := os.NewFile(ReadyFD, "ready")
	d, err := time.ParseDuration(linger)
	if err == nil {
		err = Serve(Isolate(), Config{
			Dir: dir, Version: "test", Linger: d, Ready: func() { ready.Close() }, Await: await,
			Log: log.New(os.Stderr, "", log.LstdFlags),
		})
	}
	if err != nil {
		fmt.Fprintln(ready, err)
		return 1
	}
	return 0
}
