package keys

import (
	"errors"
	"path/filepath"
	"slices"
	"time"
)

// linksName is the file of the links in the state folder, of mode 0600.
const linksName = "links.json"

// maxLinkFileBytes bounds that file, in bytes: each link may have the longest key and the most
// terminals.
const maxLinkFileBytes = MaxLinks * (MaxLineBytes + MaxInviteTerminals*256 + 2<<10)

// Links stores the links, with hashes of their secrets. Its methods may be called concurrently. It
// does not check whether the key of a link is still accepted: the caller asks the Ring.
type Links struct {
	secretFile[storedLink, *storedLink]
}

// storedLink is a Link as the file has it.
type storedLink struct {
	Link
	sealed
}

func (l *Link) lasts() (id string, expires time.Time) { return l.ID, l.Expires }

// linkFile is the format of the file.
type linkFile struct {
	Version int          `json:"version"`
	Links   []storedLink `json:"links"`
}

// OpenLinks reads the links of the state folder. It fails if others have access to the file
// (*StrictModesError) or if it is damaged.
func OpenLinks(o TokenOptions) (*Links, error) {
	ls := &Links{secretFile[storedLink, *storedLink]{kind: "link", rand: o.Rand,
		path:   filepath.Join(o.StateDir, linksName),
		format: func(all []storedLink) any { return linkFile{Version: 1, Links: all} }}}
	var file linkFile
	err := ls.open(maxLinkFileBytes, &file, &file.Version, &file.Links, MaxLinks, ErrTooManyLinks,
		": only links that were sent in the last two hours are in it")
	if err != nil {
		return nil, err
	}
	return ls, nil
}

// Changed returns a channel that is closed when the next change has taken effect. Call it before
// you look at the links, so that you miss no change.
func (ls *Links) Changed() <-chan struct{} { return ls.changes() }

// Make stores a link that lasts for LinkTTL, and returns it with its secret, which is not stored.
// The caller sets By, ByRole, Terminals and Origin. Errors match ErrTooManyLinks, say what is wrong
// with the link, or come from the disk.
func (ls *Links) Make(l Link, now time.Time) (secret string, made Link, err error) {
	secret, id, err := ls.newSecret()
	if err != nil {
		return "", Link{}, err
	}
	l.ID, l.Browser, l.Created, l.Expires = id, "", now.UTC(), now.Add(LinkTTL).UTC()
	if err := l.check(); err != nil {
		return "", Link{}, err
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	live := makeRoom(ls.liveLocked(now), l.By.Fingerprint)
	if len(live) >= MaxLinks {
		return "", Link{}, ErrTooManyLinks
	}
	if err := ls.replaceLocked(append(live, storedLink{l, seal(secret)})); err != nil {
		return "", Link{}, err
	}
	return secret, l, nil
}

// makeRoom removes the oldest link of a key that has as many as it may: of those that nobody has
// opened, if there are any.
func makeRoom(live []storedLink, fingerprint string) []storedLink {
	oldest, unopened, count := -1, -1, 0
	for i := range live {
		if live[i].By.Fingerprint != fingerprint {
			continue
		}
		if count++; oldest < 0 {
			oldest = i
		}
		if unopened < 0 && live[i].Browser == "" {
			unopened = i
		}
	}
	if count < MaxLinksPerKey {
		return live
	}
	if unopened >= 0 {
		oldest = unopened
	}
	return slices.Delete(live, oldest, oldest+1)
}

// Open lets a browser open the link with this secret: it belongs to the page with that public key
// from now on, for LinkPageTTL. A link that is opened at another address than its own ends. Errors
// match ErrBadLink, ErrLinkUsed or ErrLinkOrigin, or come from the disk.
func (ls *Links) Open(secret, origin, browser string, now time.Time) (Link, error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	found := ls.findLocked(secret, now)
	if found < 0 {
		return Link{}, ErrBadLink
	}
	l := ls.all[found].Link
	switch {
	case l.Browser != "":
		return Link{}, ErrLinkUsed
	case l.Origin != origin:
		return Link{}, errors.Join(ErrLinkOrigin, ls.replaceLocked(ls.withoutLocked(l.ID)))
	}
	l.Browser, l.Expires = browser, now.Add(LinkPageTTL).UTC()
	all := slices.Clone(ls.all)
	all[found].Link = l
	return l, ls.replaceLocked(all)
}

// Verify returns the live link with this secret that the page with that public key has opened, or
// ErrBadLink.
func (ls *Links) Verify(secret, browser string, now time.Time) (Link, error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	found := ls.findLocked(secret, now)
	if found < 0 || browser == "" || ls.all[found].Browser != browser {
		return Link{}, ErrBadLink
	}
	return ls.all[found].Link, nil
}

// Current reports whether the link with that ID is live.
func (ls *Links) Current(id string, now time.Time) bool {
	return slices.ContainsFunc(ls.List(now), func(l Link) bool { return l.ID == id })
}

// List returns the live links, the oldest first.
func (ls *Links) List(now time.Time) (list []Link) {
	for _, l := range ls.list(now) {
		list = append(list, l.Link)
	}
	return list
}

// Revoke ends a link, opened or not, or returns ErrBadLink. Any other error says that it has ended,
// but comes back at a restart, because the file could not be written.
func (ls *Links) Revoke(id string) error { return ls.revoke(id, ErrBadLink) }
