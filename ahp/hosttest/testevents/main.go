// Command testevents sums up what `go test -json` has written, in which a test may have run again:
//
//	go run ./ahp/hosttest/testevents [-failed] FILE...
//
// It tells which tests took longest, which were skipped and why, what those said that failed, and
// last of all which failed and then passed ("flaky: PACKAGE TEST (what it said)") and which never
// passed ("failed: PACKAGE TEST"). With -failed it names the latter, in one line.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

const (
	most  = 40              // lines that are shown of a failure
	room  = 90              // lines that are shown of all failures together
	long  = 5               // seconds from which on the time of a test is told
	wide  = 300             // bytes of a line that are shown
	build = " (not a test)" // where a package has failed without one
)

// event is a line that test2json or the go command writes: go doc test2json, go help buildjson.
type event struct {
	Action, Package, Test, Output string
	ImportPath, FailedBuild       string
	Elapsed                       float64 // seconds
}

// test is the record of one test, or of a package's output outside of its tests.
type test struct {
	pkg, name      string
	output         []string // of the run now
	said           []string // by the last run that failed
	skipped        string   // why
	failed, passed int      // runs
	seconds        float64
}

func (t *test) String() string { return t.pkg + " " + t.name }

// tests are in the order in which they have begun.
type tests struct {
	byName map[string]*test
	all    []*test
	builds map[string][]string // what the compiler said, by import path
}

func (ts *tests) of(pkg, name string) *test {
	key := pkg + " " + name
	t := ts.byName[key]
	if t == nil {
		t = &test{pkg: pkg, name: name}
		ts.byName[key] = t
		ts.all = append(ts.all, t)
	}
	return t
}

// boring are the lines that say nothing of a failure: headers, and the logs of hosts.
var boring = regexp.MustCompile(`^\s*(=== |--- (PASS|SKIP|FAIL): |[{]"time":|time=\S+ level=)` +
	`|^(PASS|FAIL|ok|exit status \d+)\b`)

func (ts *tests) add(e event) {
	if e.Action == "build-output" {
		ts.builds[e.ImportPath] = append(ts.builds[e.ImportPath], e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	t := ts.of(e.Package, e.Test)
	switch e.Action {
	case "run", "start":
		t.output = nil
	case "output":
		if !boring.MatchString(e.Output) {
			t.output = append(t.output, e.Output)
		}
	case "skip":
		if e.Test != "" {
			t.skipped = first(t.output)
		}
	case "pass":
		t.passed++
		t.seconds = max(t.seconds, e.Elapsed)
	case "fail":
		t.failed++
		t.seconds = max(t.seconds, e.Elapsed)
		t.said = append(ts.builds[e.FailedBuild], t.output...)
	}
}

// place is where in its file a test has said something.
var place = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// telling returns what the tests that pick chooses have failed with: of a test with tests below it
// that failed, only these; of a package, only what no test has failed with.
func (ts *tests) telling(pick func(*test) bool) (chosen []*test) {
	for _, t := range ts.all {
		if !pick(t) || slices.ContainsFunc(ts.all, func(below *test) bool {
			return below != t && below.pkg == t.pkg && below.failed > 0 &&
				(t.name == "" || strings.HasPrefix(below.name, t.name+"/"))
		}) {
			continue
		}
		chosen = append(chosen, t)
	}
	return chosen
}

// never reports whether a test has failed whenever it ran; where tests ran again, these count.
func never(t *test) bool { return t.failed > 0 && t.passed == 0 }

func flaky(t *test) bool { return t.failed > 0 && t.passed > 0 && t.name != "" }

// title is what a failure is called.
func (t *test) title() string {
	if t.name == "" {
		return t.pkg + build
	}
	return t.String()
}

// first returns the first thing that is said in lines.
func first(lines []string) string {
	for _, line := range lines {
		if line = strings.TrimSpace(place.ReplaceAllString(line, "")); line != "" {
			return cut(line)
		}
	}
	return "nothing"
}

func cut(line string) string { return strings.ToValidUTF8(line[:min(len(line), wide)], "") }

// tell writes all that is to be told.
func (ts *tests) tell(w io.Writer) {
	slow := slices.Clone(ts.all)
	slices.SortStableFunc(slow, func(a, b *test) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, t := range slow {
		if t.seconds >= long && t.name != "" && !strings.Contains(t.name, "/") {
			fmt.Fprintf(w, "%6.1f s  %s\n", t.seconds, t)
		}
	}
	reasons := map[string]int{}
	for _, t := range ts.all {
		if t.skipped != "" {
			reasons[t.skipped]++
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(w, "skipped: %d: %s\n", reasons[reason], reason)
	}
	failed := ts.telling(never)
	for _, t := range failed {
		fmt.Fprintf(w, "\n== failed: %s\n", t.title())
		said := t.said
		each := min(most, max(1, room/len(failed)))
		// Of a panic the beginning says most, of all else the end.
		if !slices.ContainsFunc(said, panics) {
			said = said[max(0, len(said)-each):]
		}
		for _, line := range said[:min(len(said), each)] {
			fmt.Fprintln(w, cut(strings.TrimRight(line, "\n")))
		}
	}
	for _, t := range ts.telling(flaky) {
		fmt.Fprintf(w, "flaky: %s (%s)\n", t.title(), first(t.said))
	}
	for _, t := range failed {
		fmt.Fprintf(w, "failed: %s\n", t.title())
	}
}

func panics(line string) bool { return strings.HasPrefix(line, "panic: ") }

// read adds the events of a file.
func (ts *tests) read(r io.Reader) {
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil { // what is no event is somebody else's
			ts.add(e)
		}
		if err != nil {
			return
		}
	}
}

// neverPassed names the tests that have failed, in one line.
func (ts *tests) neverPassed() string {
	var names []string
	for _, t := range ts.telling(never) {
		names = append(names, t.title())
	}
	return strings.Join(names, ", ")
}

func newTests() *tests { return &tests{byName: map[string]*test{}, builds: map[string][]string{}} }

func main() {
	onlyFailed := flag.Bool("failed", false, "name the failed tests in one line")
	flag.Parse()
	log.SetFlags(0)
	ts := newTests()
	for _, name := range flag.Args() {
		file, err := os.Open(name)
		if err != nil {
			log.Fatal(err)
		}
		ts.read(file)
		file.Close()
	}
	if *onlyFailed {
		fmt.Println(ts.neverPassed())
	} else {
		ts.tell(os.Stdout)
	}
}
