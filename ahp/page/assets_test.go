package page

import (
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"termhost/ahp/ws"
)

// mostGzip is how much a browser may have to load for the page, in bytes, all of it compressed.
const mostGzip = 224 << 10

func TestThePageIsSmall(t *testing.T) {
	total := 0
	for path, a := range assets() {
		if len(a.gzip()) == 0 {
			t.Errorf("%s is not compressed", path)
		}
		total += len(a.gzip())
	}
	t.Logf("%d bytes in %d files", total, len(assets()))
	if total == 0 || total > mostGzip {
		t.Errorf("the page has %d bytes, compressed; at most %d are good", total, mostGzip)
	}
}

// fileOf returns what the page's door answers.
func fileOf(t *testing.T, address string) (*http.Response, string, error) {
	t.Helper()
	w := httptest.NewRecorder()
	d := &door{Config{AHPPath: "/ahp"}}
	err := d.file(w, httptest.NewRequest(http.MethodGet, "/"+address, nil), ws.Peer{})
	answer := w.Result()
	text, readErr := io.ReadAll(answer.Body)
	if readErr != nil {
		t.Fatal(readErr)
	}
	return answer, string(text), err
}

// All that the page names is there, for ever. What an older page has named is not.
func TestWhatThePageNamesIsKept(t *testing.T) {
	answer, page, err := fileOf(t, "")
	if err != nil || answer.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("the page itself: %v, %v", answer.Header, err)
	}
	named := map[string]bool{}
	addresses := func(text, expression string) {
		for _, m := range regexp.MustCompile(expression).FindAllStringSubmatch(text, -1) {
			named[m[1]] = true
		}
	}
	addresses(page, `(?:href|src)="([^"]+)"`)
	for address := range named {
		if strings.HasPrefix(address, "app.") && strings.HasSuffix(address, ".js") {
			_, script, _ := fileOf(t, address)
			addresses(script, `\bimport\('\./(vendor[^']+)'\)`)
			addresses(script, `'(icon[^']*\.svg)'`)
		}
		if strings.HasSuffix(address, ".css") {
			_, style, _ := fileOf(t, address)
			addresses(style, `url\("([^"]+)"\)`)
		}
		if strings.HasSuffix(address, ".webmanifest") {
			_, about, _ := fileOf(t, address)
			addresses(about, `"src": "([^"]+)"`)
		}
	}
	if len(named) != len(assets())-1 {
		t.Errorf("the page names %v, and there are %d files", named, len(assets())-1)
	}
	for address := range named {
		answer, text, err := fileOf(t, address)
		if err != nil || text == "" || answer.Header.Get("Cache-Control") != "max-age=31536000, immutable" {
			t.Errorf("%s: %v, %v", address, answer.Header, err)
		}
		parts := strings.Split(address, ".")
		version := parts[len(parts)-2]
		for _, old := range []string{strings.Replace(address, version, "AAAAAAAAAAAA", 1),
			strings.Replace(address, "."+version, "", 1)} {
			if _, _, err := fileOf(t, old); err == nil {
				t.Errorf("there is %s, too", old)
			}
		}
	}
	if n := strings.Count(page, " integrity="); n != strings.Count(page, `rel="later"`)+2 {
		t.Errorf("the hashes of %d files are in the page:\n%s", n, page)
	}
}

func TestAllModulesAreJoined(t *testing.T) {
	var first, later string
	for address, a := range assets() {
		switch {
		case strings.HasPrefix(address, "app.") && strings.HasSuffix(address, ".js"):
			first = string(a.plain)
		case strings.HasPrefix(address, "pane."):
			later = string(a.plain)
		}
	}
	script := first + later
	if n := strings.Count(first, "modules['xterm-csp.js'] = "); n != 1 || strings.Contains(first, "modules['pane.js'] =") {
		t.Errorf("the first part has the wrong modules")
	}
	all, err := fs.Glob(files, "static/js/*.js")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, name := range all {
		name = strings.TrimPrefix(name, "static/js/")
		if n := strings.Count(script, "modules['"+name+"'] = "); n != 1 {
			t.Errorf("%s is in the page %d times", name, n)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^const .* = modules\['(.+)'\];$`).FindAllStringSubmatchIndex(script, -1) {
		name := script[m[2]:m[3]]
		if at := strings.Index(script, "modules['"+name+"'] = "); at < 0 || at > m[0] {
			t.Errorf("%s is used before it is there", name)
		}
	}
}

func TestBundle(t *testing.T) {
	join := func(main, other string) (string, error) {
		texts := map[string]string{"main.js": main, "other.js": other}
		b, err := newBundle("main.js", func(name string) ([]byte, error) {
			text, ok := texts[name]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		})
		if err != nil {
			return "", err
		}
		return b.out.String(), nil
	}
	const other = "export const a = 1;\nexport async function b() {}\nexport class C {}\nconst d = 2;\n"
	got, err := join("import { a, b as bee } from './other.js';\n\n// One.\n/**\n * Two.\n */\n"+
		"/** @type {import('./other.js').C} */\n/** @type {C} */ (a)();\nif (a) { // three\n  bee('/*', a);\n}\n", other)
	want := "const modules = {};\n" +
		"modules['other.js'] = (() => {\nconst a = 1;\nasync function b() {}\nclass C {}\nconst d = 2;\nreturn { a, b, C };\n})();\n" +
		"modules['main.js'] = (() => {\nconst { a, b: bee } = modules['other.js'];\n(a)();\nif (a) { // three\nbee('/*', a);\n}\nreturn {  };\n})();\n" +
		"export { modules };\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s\nnot\n%s", err, got, want)
	}
	for _, c := range []struct{ main, other, want string }{
		{"import { d } from './other.js';", other, "main.js imports d, which other.js does not export"},
		{"import { a } from './none.js';", other, fs.ErrNotExist.Error()},
		{"import { a } from './other.js';", "import { e } from './main.js';\n" + other, "imports itself"},
		{"import a from './other.js';", other, "a kind that is not known"},
		{"import * as o from './other.js';", other, "a kind that is not known"},
		{"import { a } from '../vendor/xterm.mjs';", other, "a kind that is not known"},
		{"const a = `\n`;", other, "a text of several lines"},
		{"export default 1;", other, "a kind that is not known"},
		{"export { a } from './other.js';", other, "a kind that is not known"},
		{"export let a = 1;", other, "a kind that is not known"},
		{"  await import('./other.js');", other, "a kind that is not known"},
	} {
		if got, err := join(c.main, c.other); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, not %q\n%s", c.main, err, c.want, got)
		}
	}
}
