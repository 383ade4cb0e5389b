package natslink

import "testing"

func TestWhoSendsMostIsHandledLeastOnceMuchWaits(t *testing.T) {
	for waits, want := range map[backlog]int{
		mostControl: window - 1, {mostControl.messages + 1, 0}: share, {0, mostControl.bytes + 1}: share,
	} {
		f := fair{most: mostControl}
		waiting := func() (messages, bytes int, err error) { return waits.messages, waits.bytes, nil }
		handled := map[string]int{}
		for i := range 2 * window {
			from := "floods"
			if i%window == window-1 {
				from = "asks"
			}
			if f.takes(from, waiting) {
				handled[from]++
			}
		}
		if handled["floods"] != 2*want || handled["asks"] != 2 {
			t.Errorf("while %v wait, of each %d messages %d are handled, and %d of who asks",
				waits, window, handled["floods"]/2, handled["asks"]/2)
		}
	}
}
