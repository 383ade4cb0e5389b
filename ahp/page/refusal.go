package page

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Refuse answers a browser that goes to an address and is refused with a page that says why and
// what to do. It reports false, and does nothing, for all other requests.
func Refuse(w http.ResponseWriter, r *http.Request, status int, reason string) bool {
	if r.Method != http.MethodGet || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return false
	}
	SetHeaders(w.Header())
	w.Header().Set("Content-Security-Policy", refusalPolicy())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, refusalPage, // a peer that left needs no answer
		html.EscapeString(http.StatusText(status)), html.EscapeString(sentence(reason)),
		refusalStyle)
	return true
}

// sentence writes a reason as a sentence.
func sentence(reason string) string {
	first, size := utf8.DecodeRuneInString(reason)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(reason[size:], ".") + "."
}

// refusalPage needs no file of the page: under a name that is refused there is none.
const refusalPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>termhost: %[1]s</title>
<style>%[3]s</style>
<h1>%[1]s</h1>
<p>%[2]s</p>
<p>To open the page, run <code>termhost page --local</code> on the machine of the host, or
<code>termhost page DEST</code> on another one, where DEST is what ssh calls it.</p>
</html>
`

// refusalStyle makes it look like what the page itself says in such cases.
const refusalStyle = `
:root { color-scheme: light dark }
body { font: 15px/1.6 system-ui, sans-serif }
body { max-width: 35rem; margin: 18vh auto 0; padding: 0 1.5rem }
h1 { font-size: 24px; font-weight: 600 }
code { font: 13px ui-monospace, monospace; padding: 1px 6px }
code { border: 1px solid; border-radius: 5px }
`

// refusalPolicy allows that style and nothing else.
var refusalPolicy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(refusalStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
})
