package keys

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"
)

// The critical options that are enforced (OpenSSH PROTOCOL.certkeys). A certificate with any other
// one, such as verify-required, is refused.
const (
	forceCommand  = "force-command"
	sourceAddress = "source-address"
)

// The extensions that grant rights. A certificate without them grants none.
const (
	permitPTY     = "permit-pty"
	permitForward = "permit-port-forwarding"
	permitAgent   = "permit-agent-forwarding"
)

// checkSignature checks that both keys of cert are of accepted types and that the authority has
// signed it, without SHA-1.
func checkSignature(cert *ssh.Certificate) error {
	if err := checkAlgorithm(cert.Key); err != nil {
		return err
	}
	if cert.SignatureKey == nil || cert.Signature == nil {
		return errors.New("it is not signed")
	}
	if err := checkAlgorithm(cert.SignatureKey); err != nil {
		return fmt.Errorf("its authority: %w", err)
	}
	if cert.Signature.Format == ssh.KeyAlgoRSA {
		return errors.New("its authority signed with SHA-1; " +
			"sign it again with ssh-keygen -t rsa-sha2-512")
	}
	// CheckCert is used for the signature only. certificateLimits checks options, times and
	// principals, so the checker gets values that always pass.
	bare := ssh.CertChecker{
		SupportedCriticalOptions: slices.Collect(func(yield func(string) bool) {
			for name := range cert.CriticalOptions {
				if !yield(name) {
					return
				}
			}
		}),
		Clock: func() time.Time { return time.Unix(int64(cert.ValidAfter), 0) },
	}
	principal := ""
	if len(cert.ValidPrincipals) > 0 {
		principal = cert.ValidPrincipals[0]
	}
	return bare.CheckCert(principal, cert)
}

// certificate authenticates a user certificate. It checks the certificate's own limits, then the
// cert-authority lines that name its authority, then the trusted authorities.
func (s *snapshot) certificate(user string, cert *ssh.Certificate, remote remoteAddr,
	now time.Time) (Identity, error) {
	if cert.Key == nil || cert.SignatureKey == nil {
		return Identity{}, refused("of a certificate", "the certificate is damaged")
	}
	fingerprint := ssh.FingerprintSHA256(cert.Key)
	lines := s.authorities[string(cert.SignatureKey.Marshal())]
	trusted, isTrusted := s.trusted[string(cert.SignatureKey.Marshal())]
	if len(lines) == 0 && !isTrusted {
		return Identity{}, s.unknown(cert.SignatureKey,
			"no authority that is trusted here signed its certificate")
	}
	if err := s.notRefused(cert.Key, cert.SignatureKey); err != nil {
		return Identity{}, err
	}
	limits, err := certificateLimits(cert, now)
	if err != nil {
		return Identity{}, refused(fingerprint, "its certificate: %v", err)
	}
	if !remote.within(limits.from) {
		return Identity{}, refused(fingerprint, "its certificate may not be used from this address")
	}
	var lastErr error
	for _, line := range lines {
		id, err := certifiedByLine(user, cert, line, limits, remote, now)
		if err == nil {
			return id, nil
		}
		lastErr = err
	}
	if !isTrusted {
		return Identity{}, lastErr
	}
	if s.loginUser != "" && user != s.loginUser {
		return Identity{}, refused(fingerprint,
			"its certificate was used for the login %q, and this host's is %q",
			clean(user), s.loginUser)
	}
	if !slices.Contains(cert.ValidPrincipals, user) {
		return Identity{}, refused(fingerprint,
			"its certificate does not name the login %q", clean(user))
	}
	return certified(user, cert, trusted, limits, remote), nil
}

// certificateLimits checks the certificate itself and returns its limits as the options of an
// authorized_keys line.
func certificateLimits(cert *ssh.Certificate, now time.Time) (lineOptions, error) {
	var limits lineOptions
	if cert.CertType != ssh.UserCert {
		return limits, errors.New("it is not for users")
	}
	if len(cert.ValidPrincipals) == 0 {
		return limits, errors.New("it names no principals, so it would be good for every login")
	}
	for name, value := range cert.CriticalOptions {
		switch name {
		case forceCommand:
			if err := once(name, &limits.command, value); err != nil {
				return limits, err
			}
		case sourceAddress:
			list, err := parseSourceAddress(value)
			if err != nil {
				return limits, err
			}
			limits.from = list
		default:
			return limits, fmt.Errorf("its critical option %q cannot be honoured", clean(name))
		}
	}
	_, limits.pty = cert.Extensions[permitPTY]
	_, limits.forward = cert.Extensions[permitForward]
	_, limits.agent = cert.Extensions[permitAgent]
	var err error
	if limits.expires, err = checkTimes(cert, now); err != nil {
		return limits, err
	}
	return limits, checkSignature(cert)
}

// checkTimes returns when the certificate ends, or zero for never. An end that does not fit into 63
// bits is refused, except the one that stands for "forever".
func checkTimes(cert *ssh.Certificate, now time.Time) (time.Time, error) {
	const last = 1<<63 - 1
	seconds := uint64(max(now.Unix(), 0))
	if seconds < cert.ValidAfter {
		return time.Time{}, errors.New("it is not valid yet")
	}
	if cert.ValidBefore == ssh.CertTimeInfinity {
		return time.Time{}, nil
	}
	if cert.ValidBefore > last || seconds >= cert.ValidBefore {
		return time.Time{}, errors.New("it has expired")
	}
	return time.Unix(int64(cert.ValidBefore), 0), nil
}

// certifiedByLine applies a cert-authority line. The certificate must name one of the line's
// principals or, if it has none, the login; and the line's options limit it further.
func certifiedByLine(user string, cert *ssh.Certificate, line entry, limits lineOptions,
	remote remoteAddr, now time.Time) (Identity, error) {
	fingerprint := ssh.FingerprintSHA256(cert.Key)
	accepted := line.options.principals
	if accepted == nil {
		accepted = []string{user}
	}
	isAccepted := func(name string) bool { return slices.Contains(accepted, name) }
	if !slices.ContainsFunc(cert.ValidPrincipals, isAccepted) {
		return Identity{}, refused(fingerprint,
			"its certificate names no principal that %s accepts", line.source)
	}
	if err := line.permits(fingerprint, remote, now); err != nil {
		return Identity{}, err
	}
	forced := line.options.command
	if forced != "" && limits.command != "" && forced != limits.command {
		return Identity{}, refused(fingerprint,
			"%s and its certificate force different commands", line.source)
	}
	if isSecurityKey(cert.Key) && line.options.verify {
		return Identity{}, refused(fingerprint,
			"%s requires verification, which cannot be enforced here", line.source)
	}
	return certified(user, cert, line, limits, remote), nil
}

// certified returns the Identity, with the rights that both the line and the certificate grant.
func certified(user string, cert *ssh.Certificate, line entry, limits lineOptions,
	remote remoteAddr) Identity {
	id := line.identity(user, cert.Key, remote)
	id.Key = publicLine(cert, "")
	id.Comment = clean(cert.KeyId)
	id.ReadOnly = id.ReadOnly || !limits.pty
	id.NoForward = id.NoForward || !limits.forward
	id.NoAgent = id.NoAgent || !limits.agent
	id.Expires = earlier(id.Expires, limits.expires)
	if limits.command != "" {
		id.Command = limits.command
	}
	if id.From == "" && limits.from != nil {
		id.From = limits.from.text
	}
	return id
}
