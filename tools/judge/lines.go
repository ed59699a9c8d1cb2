package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	iotago "github.com/iotaledger/iota.go/v3"
)

// line is any line of a network's file. Fields that are not needed to decide are not read: what
// the maker of the network says about roots and verdicts is compared elsewhere, never used here.
type line struct {
	Type string `json:"type"`
	Name string `json:"name"`

	// network
	GenesisIndex     uint32   `json:"genesisIndex"`
	GenesisTimestamp uint32   `json:"genesisTimestamp"`
	Treasury         string   `json:"treasury"`
	Parameters       string   `json:"parameters"`
	Keys             []string `json:"keys"`
	Threshold        int      `json:"threshold"`
	// The first and the last milestone of each key, 0 for no end; absent: all.
	Ranges [][2]uint32 `json:"ranges"`

	// output of the genesis
	OutputID        string `json:"outputId"`
	BlockID         string `json:"blockId"`
	BookedIndex     uint32 `json:"bookedIndex"`
	BookedTimestamp uint32 `json:"bookedTimestamp"`

	// output, block
	ID    string `json:"id"`
	Bytes string `json:"bytes"`

	// milestone
	Payload string `json:"payload"`

	// proposal
	Request *proposal `json:"request"`

	// state
	Index uint32 `json:"index"`
}

type proposal struct {
	Index               uint32   `json:"index"`
	Timestamp           uint32   `json:"timestamp"`
	Parents             []string `json:"parents"`
	PreviousMilestoneID string   `json:"previousMilestoneId"`
}

// outputAnswer is said of an output of the genesis.
type outputAnswer struct {
	Type     string          `json:"type"`
	OutputID string          `json:"outputId"`
	Deposit  string          `json:"minimumDeposit"`
	JSON     json.RawMessage `json:"json"`
}

type blockAnswer struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Valid bool   `json:"valid"`
	// Why not; empty for a valid block.
	Error string `json:"error,omitempty"`
	// It is a block of a milestone: signed by enough keys, with parents of the payload.
	Milestone bool            `json:"milestone,omitempty"`
	PayloadID string          `json:"payloadId,omitempty"`
	JSON      json.RawMessage `json:"json,omitempty"`
	// The least deposit of each output, in base tokens.
	Deposits []string `json:"minimumDeposits,omitempty"`
}

type milestoneAnswer struct {
	Type  string `json:"type"`
	Index uint32 `json:"index"`
	ID    string `json:"id"`
	// Why the reference would stop here; its roots are those that it computed.
	Error string `json:"error,omitempty"`
	roots
	Cone []verdict `json:"cone"`
}

type roots struct {
	Inclusion string `json:"inclusionMerkleRoot,omitempty"`
	Applied   string `json:"appliedMerkleRoot,omitempty"`
}

type verdict struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	Conflict uint8  `json:"conflict"`
	// Other reasons that the reference gave for the same transaction: it goes through maps, so
	// which of several faults it names is chance.
	Also []uint8 `json:"also,omitempty"`
}

type proposalAnswer struct {
	Type  string `json:"type"`
	Index uint32 `json:"index"`
	Error string `json:"error,omitempty"`
	roots
}

type stateAnswer struct {
	Type      string `json:"type"`
	Index     uint32 `json:"index"`
	StateHash string `json:"stateHash"`
}

func bytesOf(text string) ([]byte, error) {
	if len(text) >= 2 && text[:2] == "0x" {
		text = text[2:]
	}
	return hex.DecodeString(text)
}

// fill reads hex into an ID of a fixed length.
func fill(id []byte, text string) error {
	bytes, err := bytesOf(text)
	if err != nil {
		return err
	}
	if len(bytes) != len(id) {
		return fmt.Errorf("%d bytes instead of %d: %s", len(bytes), len(id), text)
	}
	copy(id, bytes)
	return nil
}

func blockIDs(texts []string) (iotago.BlockIDs, error) {
	ids := make(iotago.BlockIDs, len(texts))
	for i, text := range texts {
		if err := fill(ids[i][:], text); err != nil {
			return nil, err
		}
	}
	return ids, nil
}
