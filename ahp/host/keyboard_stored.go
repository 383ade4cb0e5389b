package host

import (
	"slices"

	"termhost/ahp"
	"termhost/ahp/journal"
)

// This is how holders and loans get into a terminal's journal, and out of it.

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
