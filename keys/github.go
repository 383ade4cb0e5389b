package keys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"
)

const (
	// gitHubTimeout is how long GitHub may take to answer: a person waits for the invitation.
	gitHubTimeout = 5 * time.Second
	// maxGitHubBytes bounds GitHub's answer, in bytes: MaxInviteKeys of the longest keys.
	maxGitHubBytes = 64 << 10
)

// gitHubUser is the form of GitHub's user names.
var gitHubUser = regexp.MustCompile(`^[A-Za-z0-9](-?[A-Za-z0-9]){0,38}$`)

// GitHub fetches people's public keys. The zero GitHub asks github.com.
type GitHub struct {
	URL    string       // without a slash at its end; "": https://github.com
	Client *http.Client // nil: one that follows no redirects
}

// Keys returns those public keys of a user that an invitation can use. Errors may be shown.
func (g GitHub) Keys(ctx context.Context, user string) ([]string, error) {
	if !gitHubUser.MatchString(user) {
		return nil, errors.New("keys: that is not a GitHub user name")
	}
	url, client := g.URL, g.Client
	if url == "" {
		url = "https://github.com"
	}
	if client == nil {
		client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
	}
	ctx, cancel := context.WithTimeout(ctx, gitHubTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/"+user+".keys", nil)
	if err != nil {
		return nil, fmt.Errorf("keys: the keys of %s at GitHub: %w", user, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("keys: this host cannot fetch the keys of %s from GitHub: %w;"+
			" give them with --key instead", user, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("keys: GitHub has no user %s", user)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("keys: GitHub answers %s for the keys of %s", resp.Status, user)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxGitHubBytes))
	if err != nil {
		return nil, fmt.Errorf("keys: the keys of %s at GitHub: %w", user, err)
	}
	lines, err := usableGuestKeys(string(text))
	if err != nil {
		return nil, fmt.Errorf("keys: the keys of %s at GitHub: %w", user, err)
	}
	return lines, nil
}
