package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// takeState hashes HORNET's ledger as docs/snapshot-format.md#state-hash says.
func (n *node) takeState(index uint32) (*stateAnswer, error) {
	current, err := n.ledger.ReadLedgerIndex()
	if err != nil {
		return nil, err
	}
	if current != index {
		return &stateAnswer{Type: "state", Index: current}, nil
	}
	treasury, err := n.ledger.UnspentTreasuryOutputWithoutLocking()
	if err != nil {
		return nil, err
	}
	u32 := binary.LittleEndian.AppendUint32
	data := u32(nil, index)
	data = append(data, treasury.MilestoneID[:]...)
	data = binary.LittleEndian.AppendUint64(data, treasury.Amount)
	ids, err := n.ledger.UnspentOutputsIDs()
	if err != nil {
		return nil, err
	}
	for _, id := range ids.RemoveDupsAndSort() {
		output, err := n.ledger.ReadOutputByOutputID(id)
		if err != nil {
			return nil, err
		}
		block := output.BlockID()
		data = append(append(data, id[:]...), block[:]...)
		data = u32(u32(data, output.MilestoneIndexBooked()), output.MilestoneTimestampBooked())
		data = u32(data, uint32(len(output.Bytes())))
		data = append(data, output.Bytes()...)
	}
	sum := sha256.Sum256(data)
	return &stateAnswer{Type: "state", Index: index, StateHash: hex.EncodeToString(sum[:])}, nil
}
