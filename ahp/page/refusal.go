package page

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"strings"
)

// Refuse answers a browser that goes to an address and is refused with a page that says why and
// what to do. It reports false, and does nothing, for all other requests.
func Refuse(w http.ResponseWriter, r *http.Request, status int, reason string) bool {
	if r.Method != http.MethodGet || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return false
	}
	SetHeaders(w.Header())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, fmt.Sprintf(refusalPage, // a peer that left needs no answer
		html.EscapeString(http.StatusText(status)), html.EscapeString(reason)))
	return true
}

// refusalPage needs no file of the page: under a name that is refused there is none.
const refusalPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>termhost: %[1]s</title>
<h1>%[1]s</h1>
<p>%[2]s</p>
<p>To open the page, run <code>termhost page --local</code> on the machine of the host, or
<code>termhost page DEST</code> on another one, where DEST is what ssh calls it.</p>
</html>
`
