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

// asset is one file of the page, as it is sent.
type asset struct {
	contentType string
	etag        string
	plain, gzip []byte
}

// assets returns the files by their paths below the page's own; that of the page itself is "". They
// are compressed when the first one is asked for. The page's own names all modules, so that the
// browser need not read one to learn of the next.
var assets = sync.OnceValue(func() map[string]*asset {
	all := map[string]*asset{}
	preloads := ""
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		kind, ok := contentTypes[path.Ext(name)]
		if err != nil || d.IsDir() || !ok {
			return err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		at := strings.TrimPrefix(name, "static/")
		if kind == contentTypes[".js"] {
			preloads += fmt.Sprintf("<link rel=\"modulepreload\" href=%q>\n", at)
		}
		all[at], err = newAsset(kind, text)
		return err
	})
	if index := all["index.html"]; err == nil {
		delete(all, "index.html")
		text := strings.Replace(string(index.plain), "</head>", preloads+"</head>", 1)
		all[""], err = newAsset(index.contentType, []byte(text))
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	return all
})

// contentTypes has the kinds of file that are served. The licences are not.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".mjs":  "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

func newAsset(contentType string, text []byte) (*asset, error) {
	sum := sha256.Sum256(text)
	a := &asset{contentType: contentType, plain: text,
		etag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err = w.Write(text); err == nil {
		err = w.Close()
	}
	a.gzip = b.Bytes()
	return a, err
}

// serve sends the asset, unless the browser has it.
func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	h.Set("Vary", "Accept-Encoding")
	if !strings.HasPrefix(a.contentType, "text/html") {
		h.Set("Cache-Control", "no-cache") // kept, and asked for again with its ETag
		h.Set("ETag", a.etag)
		if r.Header.Get("If-None-Match") == a.etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	text := a.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		text = a.gzip
	}
	h.Set("Content-Length", fmt.Sprint(len(text)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // a peer that left needs no answer
	}
}
