// Package age writes how long ago something was, for people: one spelling for the columns of lists
// and for sentences.
package age

import (
	"fmt"
	"time"
)

// Text returns a duration in its largest unit: "41s", "2d".
func Text(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
