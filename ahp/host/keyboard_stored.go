package host

import (
	"cmp"
	"slices"
	"strings"

	"termhost/ahp"
	"termhost/ahp/journal"
)

// This file converts holders and loans to and from their form in a terminal's journal.

func storedHolder(h holder) journal.Holder {
	return journal.Holder{Claim: journal.Claim(h.claim), Principal: h.principal, Name: h.name,
		Agent: h.agent}
}

func restoredHolder(h journal.Holder) holder {
	return holder{ahp.Claim(h.Claim), h.Principal, restoredName(h), h.Agent}
}

func storedLoans(prior, lent *loan) *journal.Loans {
	if prior == nil && lent == nil {
		return nil
	}
	return &journal.Loans{Prior: prior.stored(), Lent: lent.stored()}
}

func (l *loan) stored() (list []journal.Holder) {
	for ; l != nil; l = l.earlier {
		list = append(list, storedHolder(l.from))
	}
	return list
}

func restoredLoans(l *journal.Loans) (prior, lent *loan) {
	if l == nil {
		return nil, nil
	}
	return restoredLoan(l.Prior), restoredLoan(l.Lent)
}

func restoredLoan(list []journal.Holder) (l *loan) {
	for _, from := range slices.Backward(list) {
		l = &loan{restoredHolder(from), l}
	}
	return l
}

// restoredName returns the name of a holder from a journal. Earlier hosts wrote "gemini (ann)" for
// an agent and "ann" for other programs that came in with ann's key.
func restoredName(h journal.Holder) string {
	claim := ahp.Claim(h.Claim)
	by, named := strings.CutPrefix(h.Name, h.Agent+" (")
	switch {
	case h.Agent != "" && named:
		return strings.TrimSuffix(by, ")") + "/" + label(h.Agent)
	case strings.Contains(h.Name, "/"), reserved(claim.ClientID):
		return h.Name
	}
	return h.Name + "/" + label(cmp.Or(claim.ClientID, "agent"))
}
