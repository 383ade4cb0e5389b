package ahp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"termhost/ahp"
)

func TestLabelsAreChangedAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 63)
	for _, c := range []struct{ was, changes, want string }{
		{"", "a=1", "a=1"}, {"", "b=2 a=1", "a=1,b=2"}, {"a=1", "a=2", "a=2"}, {"a=1,b=2", "a-", "b=2"},
		{"a=1", "a-", ""}, {"a=1", "c-", "a=1"}, {"", "a=", "a="}, {"", "a.b/c=x:y@z+1_-", "a.b/c=x:y@z+1_-"},
		{"", long + "=" + long, long + "=" + long}, {"", "a=1 a-", ""},
		{"", long + "x=1", "!"}, {"", "a=" + long + "x", "!"}, {"", "=1", "!"}, {"", "a", "!"}, {"", "-", "!"},
		{"", "a=1,b=2", "!"}, {"", "a=\x1b", "!"}, {"", "ä=1", "!"}, {"", "a-=1", "!"}, {"", "a==", "!"},
	} {
		now, err := ahp.Labels(c.was).Change(strings.Fields(c.changes)...)
		if err != nil {
			now = "!"
		}
		if string(now) != c.want {
			t.Errorf("%q with %q is %q, %v, want %q", c.was, c.changes, now, err, c.want)
		}
	}
	all := ahp.Labels("")
	for i := range ahp.MaxLabels {
		all, _ = all.Set(strings.Repeat("k", i+1), "v")
	}
	if _, err := all.Set("one", "more"); err == nil {
		t.Error("there may be one more")
	}
	var back ahp.Labels
	if err := json.Unmarshal(ahp.Encode(all), &back); err != nil || back != all {
		t.Errorf("%s: %v", back, err)
	}
	if json.Unmarshal([]byte(`{"a":"b,c=d"}`), &back) == nil {
		t.Error("JSON brings a label that is none")
	}
}

func TestSelectors(t *testing.T) {
	t.Parallel()
	labels := ahp.Labels("project=web,stage=,team=a")
	for sel, want := range map[string]bool{
		"project=web": true, "project=we": false, "project!=web": false, "project!=x": true, "other!=x": true,
		"project": true, "!project": false, "other": false, "!other": true, "stage=": true, "stage": true,
		"project=web,team=a": true, "project=web,team=b": false, "project,!other": true,
	} {
		s, err := ahp.ParseSelector(sel)
		if err != nil || s.Selects(labels) != want {
			t.Errorf("%s selects %s: %v, %v", sel, labels, s.Selects(labels), err)
		}
	}
	for _, none := range []string{"", ",", "a,", "=x", "!", "a b", "a=b=c", "!a=b,"} {
		if _, err := ahp.ParseSelector(none); err == nil {
			t.Errorf("%q is a selector", none)
		}
	}
	if !(ahp.Selector{}).Selects("") {
		t.Error("no condition, and it does not hold")
	}
}
