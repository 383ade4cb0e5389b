package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed static vendor
var files embed.FS

// asset is one file of the page, as sent.
type asset struct {
	contentType string
	address     string // below the page's own; "": the page itself
	hash        [sha256.Size]byte
	plain       []byte
	gzip        func() []byte // compressed when it is first asked for
}

// manifest has a browser offer to install the page (W3C Web Application Manifest). There is no
// service worker: nothing is kept for when there is no host.
const manifest = "termhost.webmanifest"

// contentTypes has the kinds of file that are served. The licences are not.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".mjs":  "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".png":  "image/png",
	".ttf":  "font/ttf",

	".webmanifest": "application/manifest+json",
}

// assets returns what is served, by address. The modules that the page is first seen with are one
// file, those of its terminals another, and its style sheets a third. What an address other than
// the page's has never changes, for it has a hash of that.
var assets = sync.OnceValue(func() map[string]*asset {
	all, err := newAssets()
	if err != nil {
		panic(err) // the files are part of the program
	}
	return all
})

// newAssets makes what is served. The page names its large modules in links of the kind "later",
// which it turns into those that preload once it is seen: until then they would take the line from
// what it is seen with.
func newAssets() (map[string]*asset, error) {
	all := map[string]*asset{}
	add := func(name string, text []byte) *asset {
		a := newAsset(name, text)
		all[a.address] = a
		return a
	}
	static := func(name string) ([]byte, error) { return files.ReadFile("static/" + name) }

	var addresses []string // what the modules call a file, and its address
	var preloads strings.Builder
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		kind := path.Ext(name)
		if err != nil || kind != ".mjs" && kind != ".svg" && kind != ".png" && kind != ".ttf" {
			return err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		a := add(strings.TrimPrefix(name, "static/"), text)
		if kind != ".mjs" {
			addresses = append(addresses, path.Base(name), a.address)
			return nil
		}
		addresses = append(addresses, "../"+name, "./"+a.address)
		fmt.Fprintf(&preloads, "<link rel=\"later\" %s>\n", a.from("href"))
		return nil
	})
	if err != nil {
		return nil, err
	}
	script, err := newBundle("main.js", func(name string) ([]byte, error) {
		return static("js/" + name)
	})
	if err != nil {
		return nil, err
	}
	panes, err := script.later("pane.js")
	if err != nil {
		return nil, err
	}
	pane := add("pane.js", []byte(replaceQuoted(panes.out.String(), "'", addresses)))
	addresses = append(addresses, "../js/pane.js", "./"+pane.address)
	fmt.Fprintf(&preloads, "<link rel=\"later\" %s>\n", pane.from("href"))
	index, err := static("index.html")
	if err != nil {
		return nil, err
	}
	style, err := bundleStyles(index, func(name string) ([]byte, error) {
		if strings.HasPrefix(name, "vendor/") {
			return files.ReadFile(name)
		}
		return static(name)
	})
	if err != nil {
		return nil, err
	}
	js := add("app.js", []byte(replaceQuoted(script.out.String(), "'", addresses)))
	css := add("app.css", []byte(replaceQuoted(string(style), `"`, addresses)))
	about, err := static(manifest)
	if err != nil {
		return nil, err
	}
	app := add(manifest, []byte(replaceQuoted(string(about), `"`, addresses)))
	addresses = append(addresses, manifest, app.address)
	html := replaceQuoted(stylesheet.ReplaceAllString(string(index), ""), `"`, addresses)
	html = strings.Replace(html, `src="js/main.js"`, js.from("src"), 1)
	styles := fmt.Sprintf("<link rel=\"stylesheet\" %s>\n", css.from("href"))
	html = strings.Replace(html, "<script", styles+"<script", 1)
	html = strings.Replace(html, "</head>", preloads.String()+"</head>", 1)
	page := newAsset("index.html", []byte(html))
	page.address = ""
	all[""] = page
	return all, nil
}

// replaceQuoted replaces the names of files, between quotes, by their addresses.
func replaceQuoted(text, quote string, addresses []string) string {
	quoted := make([]string, len(addresses))
	for i, a := range addresses {
		quoted[i] = quote + a + quote
	}
	return strings.NewReplacer(quoted...).Replace(text)
}

func newAsset(name string, text []byte) *asset {
	kind := path.Ext(name)
	sum := sha256.Sum256(text)
	version := base64.RawURLEncoding.EncodeToString(sum[:9])
	return &asset{
		contentType: contentTypes[kind],
		address:     strings.TrimSuffix(name, kind) + "." + version + kind,
		hash:        sum,
		plain:       text,
		gzip:        sync.OnceValue(func() []byte { return compress(text) }),
	}
}

// from returns the attributes with which the page names the asset. The browser takes it only with
// that hash (SRI): what it keeps for this address may come from another program that listened here.
func (a *asset) from(attribute string) string {
	return fmt.Sprintf(`%s="%s" integrity="sha256-%s"`, attribute, a.address,
		base64.StdEncoding.EncodeToString(a.hash[:]))
}

func compress(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text) // into memory
	_ = w.Close()
	return b.Bytes()
}

// serve sends the asset, which a browser then keeps; the page itself it asks for each time.
func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	h.Set("Vary", "Accept-Encoding")
	if a.address != "" {
		h.Set("Cache-Control", "max-age=31536000, immutable")
	}
	text := a.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		text = a.gzip()
	}
	h.Set("Content-Length", fmt.Sprint(len(text)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // a peer that left needs no answer
	}
}
