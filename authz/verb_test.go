package authz

import "testing"

func TestVerbsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]Verb{}
	for v := List; v < endOfVerbs; v++ {
		name := v.String()
		if other, ok := seen[name]; ok || name == "unknown verb" {
			t.Errorf("verb %d is called %q like verb %d", v, name, other)
		}
		seen[name] = v
	}
}
