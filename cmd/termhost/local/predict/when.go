package predict

import "fmt"

// When is when keys are shown before the host has echoed them. The zero value is Never.
type When int

// The values of When, whose names are those of mosh's option --predict.
const (
	Never    When = iota
	Adaptive      // while round trips take long
	Always
)

// names are the names of the values.
var names = [...]string{Never: "never", Adaptive: "adaptive", Always: "always"}

// Parse returns the value of a name.
func Parse(name string) (When, error) {
	for when, n := range names {
		if n == name {
			return When(when), nil
		}
	}
	return Never, fmt.Errorf("predictions are adaptive, always or never, and not %q", name)
}
