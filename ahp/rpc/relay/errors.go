package relay

import (
	"encoding/json"
	"strconv"
	"strings"

	"termhost/ahp"
)

// renamed returns an owner's error in which the terminal that a request is about, uri there, is
// named as the client names it: in the text, and where it is a member of the data. nil stays.
func renamed(e *ahp.Error, host, uri string) *ahp.Error {
	here, ok := ahp.FleetURI(host, uri)
	if e == nil || !ok {
		return e
	}
	text := replaceWord(e.Message, uri, here)
	if name, ok := ahp.TerminalName(uri); ok {
		text = replaceWord(text, strconv.Quote(name), strconv.Quote(host+"/"+name))
	}
	changed := &ahp.Error{Code: e.Code, Message: text, Data: e.Data}
	if len(e.Data) == 0 || e.Data[0] != '{' {
		return changed
	}
	data := []byte{'{'}
	ahp.EachMember(e.Data, func(key string, value []byte) {
		if len(data) > 1 {
			data = append(data, ',')
		}
		var is string
		if json.Unmarshal(value, &is) == nil && is == uri {
			value = ahp.AppendJSONString(nil, here)
		}
		data = append(append(ahp.AppendJSONString(data, key), ':'), value...)
	})
	changed.Data = append(data, '}')
	return changed
}

// replaceWord replaces a word of a text where it does not go on as a longer one.
func replaceWord(text, word, by string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, word)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		if text = after; after != "" && (after[0] == '/' || ahp.ValidName("x"+after[:1]) &&
			after[0] != '.') {
			out.WriteString(word)
		} else {
			out.WriteString(by)
		}
	}
}
