package slowtest

import "testing"

// Amount returns how much a benchmark does: full, or short where benchmarks are only tried, with
// go test -short as in .ci/full. What they measure then means nothing.
func Amount[T any](full, short T) T {
	if testing.Short() {
		return short
	}
	return full
}
