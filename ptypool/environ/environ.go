// Package environ reads and changes environments: lists of "NAME=value", as os.Environ has them.
package environ

import (
	"slices"
	"strings"
)

// Get returns the value of name in env; "": it is not set.
func Get(env []string, name string) string {
	value, _ := Lookup(env, name)
	return value
}

// Lookup returns the value of name in env, and whether it is there.
func Lookup(env []string, name string) (value string, set bool) {
	for _, v := range env {
		if value, set = strings.CutPrefix(v, name+"="); set {
			return value, true
		}
	}
	return "", false
}

// Set returns env with exactly one entry for name, which sets it to value: of two entries some
// programs take the first and some the last. env may be changed.
func Set(env []string, name, value string) []string {
	return append(Unset(env, name), name+"="+value)
}

// Unset returns env without name. env may be changed.
func Unset(env []string, name string) []string {
	return slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
}
