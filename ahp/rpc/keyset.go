package rpc

import (
	"encoding/json"
	"strings"
	"unicode"
)

// keySet holds the keys of one object in a form that is the same for all that
// encoding/json would match with the same field.
type keySet struct {
	few  []string // while there are few of them
	many map[string]struct{}
}

// manyKeys is where a map begins to be faster than a look through a list.
const manyKeys = 12

// add reports whether the key, as it was written between quotes, is new.
func (k *keySet) add(key string) bool {
	key = fold(key)
	if k.many != nil {
		if _, ok := k.many[key]; ok {
			return false
		}
		k.many[key] = struct{}{}
		return true
	}
	for _, have := range k.few {
		if have == key {
			return false
		}
	}
	k.few = append(k.few, key)
	if len(k.few) > manyKeys {
		k.many = make(map[string]struct{}, 2*manyKeys)
		for _, have := range k.few {
			k.many[have] = struct{}{}
		}
	}
	return true
}

// fold returns one spelling for all keys that are equal under Unicode's simple
// case folding, which is what encoding/json matches fields by.
func fold(key string) string {
	if strings.IndexByte(key, '\\') >= 0 {
		var s string
		if json.Unmarshal([]byte(`"`+key+`"`), &s) == nil {
			key = s
		}
	}
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, key)
}
