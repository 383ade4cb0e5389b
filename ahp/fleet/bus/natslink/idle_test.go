//go:build !race

package natslink_test

import (
	"testing"

	"github.com/nats-io/nats-server/v2/server/pse"

	_ "termhost/ahp/fleet/bus/natslink"
)

func TestAProgramThatLinksNATSDoesNotReadItsProcessorTime(t *testing.T) {
	var percent float64
	var resident, virtual int64
	if err := pse.ProcUsage(&percent, &resident, &virtual); err == nil {
		t.Error("it is read, from", "the file that NATS' server has chosen")
	}
}
