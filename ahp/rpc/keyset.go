package rpc

import (
	"bytes"
	"strings"
	"unicode"
)

// keySet holds the keys of one object. Unless they are data, keys that differ in case only are
// equal, by Unicode's simple case folding.
type keySet struct {
	data bool // the keys are compared as they are
	n    int
	few  [manyKeys][]byte    // the keys, while there are at most manyKeys
	many map[string]struct{} // otherwise
}

// manyKeys is the number of keys beyond which a map is faster than a list.
const manyKeys = 12

// add reports whether the key is new.
func (k *keySet) add(key []byte) bool {
	if k.many == nil && k.n < manyKeys {
		for _, have := range k.few[:k.n] {
			if bytes.Equal(have, key) || !k.data && bytes.EqualFold(have, key) {
				return false
			}
		}
		k.few[k.n] = key
		k.n++
		return true
	}
	if k.many == nil {
		k.many = make(map[string]struct{}, 2*manyKeys)
		for _, have := range k.few {
			k.many[k.form(have)] = struct{}{}
		}
	}
	form := k.form(key)
	if _, ok := k.many[form]; ok {
		return false
	}
	k.many[form] = struct{}{}
	return true
}

// form returns the same spelling for all keys that are equal.
func (k *keySet) form(key []byte) string {
	if k.data {
		return string(key)
	}
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, string(key))
}
