package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"termhost/ptypool/proctag"
	"termhost/ptypool/statefile"
)

const (
	// sendTime is how long a target may take for a message.
	sendTime = 10 * time.Second
	// maxSecret bounds the file of a token or a secret, in bytes.
	maxSecret = 4 << 10
)

// client sends messages. It follows no redirect: a token must not go elsewhere.
var client = &http.Client{
	Timeout:       sendTime,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// send sends a message, and returns why it did not arrive. The error has nothing secret.
func (t *Target) send(ctx context.Context, m message, hostname string, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	switch kind, _ := t.kind(); kind {
	case "command":
		return t.run(ctx, m)
	case "webhook":
		return t.hook(ctx, m, hostname, now)
	case "ntfy":
		return t.publish(ctx, m)
	}
	return t.push(ctx, m)
}

// run runs the command, with the title and the body as its last arguments.
func (t *Target) run(ctx context.Context, m message) error {
	words := append(t.Command[1:len(t.Command):len(t.Command)], operand(m.Title), operand(m.Body))
	cmd := exec.CommandContext(ctx, t.Command[0], words...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"),
		"DISPLAY=" + os.Getenv("DISPLAY"), "XDG_RUNTIME_DIR=" + os.Getenv("XDG_RUNTIME_DIR"),
		"DBUS_SESSION_BUS_ADDRESS=" + os.Getenv("DBUS_SESSION_BUS_ADDRESS")}
	if m.URL != "" { // others see arguments
		cmd.Env = append(cmd.Env, "TERMHOST_URL="+m.URL)
	}
	cmd.WaitDelay = time.Second
	var err error
	proctag.Untagged(func() { err = cmd.Start() }) // it is no part of a terminal
	if err == nil {
		err = cmd.Wait()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// operand returns text as an argument that no program takes for an option: a NAME may begin with a
// hyphen.
func operand(text string) string {
	if strings.HasPrefix(text, "-") {
		return " " + text
	}
	return text
}

// hook posts JSON. What signs it is HMAC-SHA256 of the time, a dot and the body, so that whoever
// has seen a request cannot send it again later.
func (t *Target) hook(ctx context.Context, m message, hostname string, now time.Time) error {
	body, err := json.Marshal(struct {
		Title     string `json:"title"`
		Body      string `json:"body"`
		URL       string `json:"url,omitempty"`
		Host      string `json:"host,omitempty"`
		Terminals []item `json:"terminals"`
	}{m.Title, m.Body, m.URL, hostname, m.Items})
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if t.SecretFile != "" {
		secret, err := readSecret(t.SecretFile)
		if err != nil {
			return err
		}
		at := strconv.FormatInt(now.Unix(), 10)
		mac := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(mac, "%s.%s", at, body)
		header.Set("X-Termhost-Timestamp", at)
		header.Set("X-Termhost-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	return post(ctx, t.Webhook, header, body)
}

// publish posts to a topic of ntfy (docs.ntfy.sh, "Publish as JSON" is not needed: the body is the
// message).
func (t *Target) publish(ctx context.Context, m message) error {
	header := http.Header{"Title": {m.Title}, "Tags": {"computer"}}
	if m.Urgent {
		header.Set("Priority", "high")
	}
	if m.URL != "" { // docs.ntfy.sh, "Click action"
		header.Set("Click", m.URL)
	}
	if t.TokenFile != "" {
		token, err := readSecret(t.TokenFile)
		if err != nil {
			return err
		}
		header.Set("Authorization", "Bearer "+token)
	}
	return post(ctx, t.Ntfy, header, []byte(m.Body))
}

// push posts a message to Gotify (gotify.net, "Push messages").
func (t *Target) push(ctx context.Context, m message) error {
	token, err := readSecret(t.TokenFile)
	if err != nil {
		return err
	}
	to, err := url.JoinPath(t.Gotify, "message")
	if err != nil {
		return err
	}
	priority := 5
	if m.Urgent {
		priority = 8 // from which on the phone makes a sound
	}
	said := map[string]any{"title": m.Title, "message": m.Body, "priority": priority}
	if m.URL != "" { // gotify.net, "Message extras"
		said["extras"] = map[string]any{"client::notification": map[string]any{
			"click": map[string]string{"url": m.URL}}}
	}
	body, err := json.Marshal(said)
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/json"}, "X-Gotify-Key": {token}}
	return post(ctx, to, header, body)
}

// post sends a request, and returns an error without its URL, which may have a secret in it.
func post(ctx context.Context, to string, header http.Header, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return errors.New("the URL cannot be used")
	}
	req.Header = header
	resp, err := client.Do(req)
	if failed := new(url.Error); errors.As(err, &failed) {
		return failed.Err
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxSecret)) // so that it is used again
	switch code := resp.StatusCode; {
	case code < http.StatusMultipleChoices:
		return nil
	case code >= http.StatusInternalServerError, code == http.StatusTooManyRequests,
		code == http.StatusRequestTimeout:
		return fmt.Errorf("it answers %s", resp.Status)
	}
	return &refusedError{resp.Status}
}

// refusedError says that a server refuses a message, which it would do again.
type refusedError struct{ status string }

func (e *refusedError) Error() string { return "it answers " + e.status }

// readSecret returns the text of a file, without the end of its line.
func readSecret(path string) (string, error) {
	text, err := statefile.Read(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("its secret cannot be read: %w", err)
	case len(text) > maxSecret || strings.TrimSpace(string(text)) == "":
		return "", errors.New("the file of its secret has none")
	}
	return strings.TrimSpace(string(text)), nil
}
