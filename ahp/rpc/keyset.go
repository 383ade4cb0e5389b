package rpc

import (
	"encoding/json"
	"strings"
	"unicode"
)

// keySet holds the keys of one object in a form that is the same for all that
// encoding/json would match with the same field, unless the keys are data.
type keySet struct {
	data bool     // they are compared as they are
	few  []string // while there are few of them
	many map[string]struct{}
}

// manyKeys is where a map begins to be faster than a look through a list.
const manyKeys = 12

// add reports whether the key, as it was written between quotes, is new.
func (k *keySet) add(key string) bool {
	key = unescape(key)
	if !k.data {
		key = fold(key)
	}
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

// unescape returns what a key means that was written as key between quotes.
func unescape(key string) string {
	var s string
	if strings.IndexByte(key, '\\') >= 0 && json.Unmarshal([]byte(`"`+key+`"`), &s) == nil {
		return s
	}
	return key
}

// fold returns one spelling for all keys that are equal under Unicode's simple
// case folding, which is what encoding/json matches fields by.
func fold(key string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, key)
}
