package rpc

import (
	"encoding/json"
	"errors"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/authz"
	"termhost/authz/admit"
	"termhost/ptypool"
)

// badURI refuses a channel that is no URI.
var badURI = ahp.FieldProblem("channel", "must be an absolute URI of at most 256 bytes")

// Error returns the error that a peer of AHP or ACP gets where the host has returned err; nil for
// nil. An error that is not for peers is logged instead.
func Error(c *host.Conn, err error) *ahp.Error {
	var (
		ended  *host.EndedError
		denied *authz.Denied
		exists *host.ExistsError
		name   *host.NameError
		dir    *host.DirError
		limit  *ptypool.LimitError
		quota  *admit.QuotaError
		start  *ptypool.StartError
		never  *host.NotStartedError
		claim  *host.ClaimError
		room   *host.PatternRoomError
		keeper *host.KeeperError
	)
	c.Denied(err)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ended):
		return ahp.EndedError(ahp.CodeNotPermitted, err.Error())
	case errors.As(err, &denied):
		return ahp.NewError(ahp.CodeNotPermitted, denied.Error(), "rule", denied.Rule)
	case errors.As(err, &exists):
		return ahp.NewError(ahp.CodeTerminalExists, err.Error())
	case errors.As(err, &name):
		return ahp.NewError(ahp.CodeInvalidParams, err.Error(), "field", "channel")
	case errors.As(err, &dir):
		return ahp.NewError(ahp.CodeInvalidParams, err.Error(), "field", "cwd")
	case errors.As(err, &claim) && claim.Executes:
		return ahp.NewError(ahp.CodeInvalidParams, claim.Reason, "field", "claim",
			"reason", claim.Reason)
	case errors.As(err, &claim):
		return ahp.FieldProblem("claim", claim.Reason)
	case errors.As(err, &start) && start.Kind == ptypool.ErrBadDir:
		return startProblem(start, "cwd")
	case errors.As(err, &never):
		return ahp.NewError(ahp.CodeNotPermitted, err.Error(), "rule", err.Error())
	case errors.As(err, &limit):
		return ahp.NewError(ahp.CodeLimit, err.Error(), "limit", "terminal.max_terminals")
	case errors.As(err, &quota):
		return ahp.NewError(ahp.CodeLimit, err.Error(), "limit", "principal.max_terminals")
	case errors.As(err, &room):
		return ahp.NewError(ahp.CodeLimit, err.Error(), "limit", "patterns")
	case errors.As(err, &keeper):
		return ahp.NewError(ahp.CodeInternal, keeper.Error())
	case errors.Is(err, host.ErrClosed):
		return ahp.EndedError(ahp.CodeInternal, host.ErrClosed.Error())
	}
	if e := unknown(err); e != nil {
		return e
	}
	if e := handshakeError(err); e != nil {
		return e
	}
	c.LogFailure(err)
	return ahp.NewError(ahp.CodeInternal, "it could not be done; the host's log says why")
}

// unknown is Error for something that is not there; nil: err does not say so.
func unknown(err error) *ahp.Error {
	var (
		channel   *host.UnknownChannelError
		recording *host.NoRecordingError
	)
	switch {
	case errors.As(err, &channel):
		return ahp.NewError(ahp.CodeNotFound, err.Error(), "channel", channel.Channel)
	case errors.As(err, &recording):
		return ahp.NewError(ahp.CodeNotFound, err.Error(), "recording", recording.Name)
	case errors.Is(err, host.ErrGone), errors.Is(err, host.ErrNoPicture):
		return ahp.NewError(ahp.CodeNotFound, err.Error())
	}
	return nil
}

// handshakeError is Error for what initialize and reconnect fail with; nil: err is nothing of that.
func handshakeError(err error) *ahp.Error {
	var (
		foreign *host.ForeignClientError
		client  *host.UnknownClientError
		clients *host.ClientsError
	)
	switch {
	case errors.Is(err, host.ErrInitialized):
		return invalid(err.Error())
	case errors.Is(err, host.ErrVersion):
		e := ahp.NewError(ahp.CodeVersion, err.Error())
		e.Data, _ = json.Marshal(map[string][]string{"supportedVersions": ahp.SupportedVersions()})
		return e
	case errors.Is(err, host.ErrClientID):
		return ahp.NewError(ahp.CodeInvalidParams, err.Error(), "field", "clientId")
	case errors.As(err, &foreign):
		return ahp.NewError(ahp.CodeNotPermitted, err.Error(), "rule", foreign.Rule)
	case errors.As(err, &client):
		return ahp.NewError(ahp.CodeNotFound, err.Error(), "clientId", client.ID)
	case errors.As(err, &clients):
		return ahp.NewError(ahp.CodeLimit, err.Error(), "limit", "clientIds per principal")
	}
	return nil
}

// refusal is Error where every error is a reason that the peer may be told.
func refusal(c *host.Conn, err error) *ahp.Error {
	var denied *authz.Denied
	if err != nil && !errors.As(err, &denied) {
		return ahp.NewError(ahp.CodeNotPermitted, err.Error(), "rule", err.Error())
	}
	return Error(c, err)
}

// workError is Error for a request that ends with its work.
func workError(c *host.Conn, w *host.Work, err error) *ahp.Error {
	if ended := w.Ended(); ended != nil {
		err = ended
	}
	return Error(c, err)
}

// startProblem says that the program or directory that a param names cannot be run or entered. The
// name may be a megabyte long, and answers wait in memory, so it is cut.
func startProblem(err *ptypool.StartError, field string) *ahp.Error {
	short := *err
	short.Name = err.Name[:min(len(err.Name), ahp.MaxURI)]
	return ahp.NewError(ahp.CodeInvalidParams, short.Error(), "field", field)
}

// lookup returns the terminal of a channel, if it exists for the peer.
func (p *peer) lookup(channel string) (*host.Terminal, *ahp.Error) {
	t, err := p.conn.Lookup(channel)
	return t, Error(p.conn, err)
}

// named decodes a request's parameters, which have a channel, and returns the terminal of that.
func (p *peer) named(r *request, params any, channel *string) (*host.Terminal, *ahp.Error) {
	if e := ahp.DecodeParams(r.params, params); e != nil {
		return nil, e
	}
	if e := require(field{"channel", *channel != ""}); e != nil {
		return nil, e
	}
	return p.lookup(*channel)
}

// valid is lookup for a method that tells a channel that is no URI from one that is unknown.
func valid(c *host.Conn, channel string) (*host.Terminal, *ahp.Error) {
	t, err := c.Lookup(channel)
	var unknown *host.UnknownChannelError
	if _, ok := ahp.NormalizeChannel(channel); !ok && errors.As(err, &unknown) {
		return nil, badURI
	}
	return t, Error(c, err)
}
