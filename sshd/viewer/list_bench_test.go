package viewer

import (
	"fmt"
	"testing"
	"time"

	"termhost/ahp/history"
	"termhost/ahp/host"
)

// manyRows are the terminals of a busy host.
func manyRows(n int) (list []*Row) {
	for i := range n {
		code := i % 3
		list = append(list, &Row{Info: host.Info{Name: fmt.Sprintf("agent-%d", i),
			URI: fmt.Sprintf("ahp-terminal:/%d", i), State: host.StateRunning,
			CreatedAt: time.Unix(int64(1e9+i), 0), Executor: "server", Holder: "ann/claude",
			Cols: 80, Rows: 24, Group: fmt.Sprintf("repository-%d@main", i%20),
			Title: "~/src/repository: 界 working", PrintedAt: time.Now(), WantsYou: i%50 == 0,
			LastCommand: &history.Command{Line: "go test ./...", ExitCode: &code}}})
	}
	return list
}

// What a new list of 500 terminals costs, and what a drawing of it does where nothing has changed.
func BenchmarkAListOf500(b *testing.B) {
	w := Window{Cols: 80, Rows: 24}
	b.Run("anew", func(b *testing.B) {
		l := &list{o: listOptions{whole: true}}
		rows := manyRows(500)
		for b.Loop() {
			l.fit = nil
			l.arrange(append([]*Row(nil), rows...), false)
			l.layOut(w, w)
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		l := &list{o: listOptions{whole: true}}
		l.arrange(manyRows(500), false)
		for b.Loop() {
			l.layOut(w, w)
		}
	})
}
