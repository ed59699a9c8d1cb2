package main

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/iotaledger/hive.go/kvstore/mapdb"
	"github.com/iotaledger/hive.go/serializer/v2"
	"github.com/iotaledger/hornet/v2/pkg/dag"
	"github.com/iotaledger/hornet/v2/pkg/model/milestonemanager"
	"github.com/iotaledger/hornet/v2/pkg/model/storage"
	"github.com/iotaledger/hornet/v2/pkg/model/syncmanager"
	"github.com/iotaledger/hornet/v2/pkg/model/utxo"
	"github.com/iotaledger/hornet/v2/pkg/profile"
	"github.com/iotaledger/hornet/v2/pkg/protocol"
	"github.com/iotaledger/hornet/v2/pkg/whiteflag"
	iotago "github.com/iotaledger/iota.go/v3"
	"github.com/iotaledger/iota.go/v3/keymanager"
	"github.com/iotaledger/iota.go/v3/pow"
)

// repeats is how often a cone with conflicts is judged, to see all reasons that the reference may
// give.
const repeats = 8

// node has the parts of HORNET that decide, on databases in memory.
type node struct {
	genesisIndex uint32
	storage      *storage.Storage
	ledger       *utxo.Manager
	protocol     *protocol.Manager
	milestones   *milestonemanager.MilestoneManager
}

func openNode(given *line) (*node, error) {
	opts := func() *profile.CacheOpts {
		return &profile.CacheOpts{
			CacheTime:                  "0ms",
			ReleaseExecutorWorkerCount: 1,
			LeakDetectionOptions:       &profile.LeakDetectionOpts{MaxConsumerHoldTime: "100s"},
		}
	}
	stored, err := storage.New(mapdb.NewMapDB(), mapdb.NewMapDB(), &profile.Caches{
		Addresses:            opts(),
		Children:             opts(),
		Milestones:           opts(),
		Blocks:               opts(),
		UnreferencedBlocks:   opts(),
		IncomingBlocksFilter: opts(),
	})
	if err != nil {
		return nil, err
	}
	opened := &node{genesisIndex: given.GenesisIndex, storage: stored, ledger: stored.UTXOManager()}

	genesis := given.GenesisIndex
	stored.SolidEntryPointsAddWithoutLocking(iotago.EmptyBlockID(), genesis)
	if err := stored.SetInitialSnapshotInfo(genesis, genesis, genesis, genesis, time.Unix(int64(given.GenesisTimestamp), 0)); err != nil {
		return nil, err
	}
	parameters, err := bytesOf(given.Parameters)
	if err != nil {
		return nil, err
	}
	if err := stored.StoreProtocolParametersMilestoneOption(&iotago.ProtocolParamsMilestoneOpt{
		TargetMilestoneIndex: genesis,
		ProtocolVersion:      2,
		Params:               parameters,
	}); err != nil {
		return nil, err
	}
	if err := opened.ledger.StoreLedgerIndex(genesis); err != nil {
		return nil, err
	}
	treasury, err := strconv.ParseUint(given.Treasury, 10, 64)
	if err != nil {
		return nil, err
	}
	if err := opened.ledger.StoreUnspentTreasuryOutput(&utxo.TreasuryOutput{Amount: treasury}); err != nil {
		return nil, err
	}

	if opened.protocol, err = protocol.NewManager(stored, genesis); err != nil {
		return nil, err
	}
	synced, err := syncmanager.New(genesis, opened.protocol)
	if err != nil {
		return nil, err
	}
	keys := keymanager.New()
	for i, text := range given.Keys {
		key := make([]byte, ed25519.PublicKeySize)
		if err := fill(key, text); err != nil {
			return nil, err
		}
		var during [2]uint32
		if i < len(given.Ranges) {
			during = given.Ranges[i]
		}
		keys.AddKeyRange(key, during[0], during[1])
	}
	opened.milestones = milestonemanager.New(stored, synced, keys, given.Threshold)
	return opened, nil
}

func (n *node) close() error {
	if n == nil {
		return nil
	}
	n.storage.ShutdownStorages()
	return nil
}

// take answers a line; an error means that the file is no network, not that it is a wrong one.
func (n *node) take(given *line) (any, error) {
	switch given.Type {
	case "output":
		return n.takeOutput(given)
	case "block":
		return n.takeBlock(given)
	case "milestone":
		return n.takeMilestone(given)
	case "proposal":
		return n.takeProposal(given.Request)
	case "state":
		return n.takeState(given.Index)
	default:
		return nil, fmt.Errorf("unknown type of line %q", given.Type)
	}
}

func (n *node) takeOutput(given *line) (*outputAnswer, error) {
	var id iotago.OutputID
	if err := fill(id[:], given.OutputID); err != nil {
		return nil, err
	}
	var block iotago.BlockID
	if err := fill(block[:], given.BlockID); err != nil {
		return nil, err
	}
	data, err := bytesOf(given.Bytes)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("output of no bytes")
	}
	output, err := iotago.OutputSelector(uint32(data[0]))
	if err != nil {
		return nil, err
	}
	parameters := n.protocol.Current()
	if _, err := output.Deserialize(data, serializer.DeSeriModePerformValidation, parameters); err != nil {
		return nil, err
	}
	booked := utxo.CreateOutput(id, block, given.BookedIndex, given.BookedTimestamp, output)
	if err := n.ledger.AddUnspentOutput(booked); err != nil {
		return nil, err
	}
	text, err := json.Marshal(output)
	if err != nil {
		return nil, err
	}
	deposit := strconv.FormatUint(parameters.RentStructure.MinRent(output), 10)
	return &outputAnswer{Type: "output", OutputID: given.OutputID, Deposit: deposit, JSON: text}, nil
}

// takeBlock parses a block as HORNET does when it comes (pkg/protocol/gossip/msg_proc.go), and
// stores it if it is valid.
func (n *node) takeBlock(given *line) (*blockAnswer, error) {
	data, err := bytesOf(given.Bytes)
	if err != nil {
		return nil, err
	}
	answer := &blockAnswer{Type: "block", ID: given.ID}
	parameters := n.protocol.Current()
	parsed := &iotago.Block{}
	read, err := parsed.Deserialize(data, serializer.DeSeriModePerformValidation, parameters)
	if err == nil && read != len(data) {
		err = fmt.Errorf("%d bytes left over", len(data)-read)
	}
	if err == nil && parsed.ProtocolVersion != parameters.Version {
		err = fmt.Errorf("protocol version %d", parsed.ProtocolVersion)
	}
	if _, isMilestone := parsed.Payload.(*iotago.Milestone); err == nil && isMilestone && parsed.Nonce != 0 {
		err = fmt.Errorf("a milestone with a nonce")
	}
	if _, free := parsed.Payload.(*iotago.Milestone); err == nil && !free && pow.Score(data) < float64(parameters.MinPoWScore) {
		err = fmt.Errorf("too little proof of work")
	}
	if err != nil {
		answer.Error = err.Error()
		return answer, nil
	}
	answer.Valid = true
	block, err := storage.BlockFromBytes(data, serializer.DeSeriModeNoValidation, nil)
	if err != nil {
		return nil, err
	}
	answer.ID = block.BlockID().ToHex()
	if answer.JSON, err = json.Marshal(parsed); err != nil {
		return nil, err
	}
	switch payload := parsed.Payload.(type) {
	case *iotago.Transaction:
		id, err := payload.ID()
		if err != nil {
			return nil, err
		}
		answer.PayloadID = id.ToHex()
		for _, output := range payload.Essence.Outputs {
			deposit := parameters.RentStructure.MinRent(output)
			answer.Deposits = append(answer.Deposits, strconv.FormatUint(deposit, 10))
		}
	case *iotago.Milestone:
		id, err := payload.ID()
		if err != nil {
			return nil, err
		}
		answer.PayloadID = id.ToHex()
	}
	cached, _ := n.storage.StoreBlockIfAbsent(block)
	if n.isMilestoneBlock(parsed) {
		answer.Milestone = true
		cached.Metadata().SetMilestone(true)
	}
	cached.Release(true)
	return answer, nil
}

// isMilestoneBlock asks HORNET, which fails on a block with more parents than its payload: that is
// none of a milestone's blocks.
func (n *node) isMilestoneBlock(block *iotago.Block) (isMilestone bool) {
	defer func() {
		if recover() != nil {
			isMilestone = false
		}
	}()
	return n.milestones.VerifyMilestoneBlock(block) != nil
}

// cones are read through HORNET's caches for one walk.
type cones struct {
	blocks   *storage.BlocksMemcache
	metadata *storage.MetadataMemcache
	parents  *dag.MemcachedParentsTraverserStorage
}

func (n *node) cones() *cones {
	metadata := storage.NewMetadataMemcache(n.storage.CachedBlockMetadata)
	return &cones{
		blocks:   storage.NewBlocksMemcache(n.storage.CachedBlock),
		metadata: metadata,
		parents:  dag.NewMemcachedParentsTraverserStorage(n.storage, metadata),
	}
}

func (c *cones) release() {
	c.parents.Cleanup(true)
	c.blocks.Cleanup(true)
	c.metadata.Cleanup(true)
}

func (n *node) mutations(index, timestamp uint32, parents iotago.BlockIDs, previous iotago.MilestoneID) (*whiteflag.WhiteFlagMutations, error) {
	cones := n.cones()
	defer cones.release()
	return whiteflag.ComputeWhiteFlagMutations(
		context.Background(),
		n.ledger,
		dag.NewParentsTraverser(cones.parents),
		cones.blocks.CachedBlock,
		index,
		timestamp,
		parents,
		previous,
		n.genesisIndex,
		whiteflag.DefaultWhiteFlagTraversalCondition,
	)
}

// takeMilestone judges the cone, then lets HORNET apply the milestone, which it refuses if the
// payload has other roots.
func (n *node) takeMilestone(given *line) (*milestoneAnswer, error) {
	data, err := bytesOf(given.Payload)
	if err != nil {
		return nil, err
	}
	payload := &iotago.Milestone{}
	parameters := n.protocol.Current()
	if _, err := payload.Deserialize(data, serializer.DeSeriModePerformValidation, parameters); err != nil {
		return nil, err
	}
	id, err := payload.ID()
	if err != nil {
		return nil, err
	}
	answer := &milestoneAnswer{Type: "milestone", Index: payload.Index, ID: id.ToHex(), Cone: []verdict{}}
	if n.milestones.VerifyMilestonePayload(payload) == nil {
		answer.Error = "not signed by enough keys"
		return answer, nil
	}
	mutations, err := n.mutations(payload.Index, payload.Timestamp, payload.Parents, payload.PreviousMilestoneID)
	if err != nil {
		answer.Error = err.Error()
		return answer, nil
	}
	answer.roots = rootsOf(mutations)
	if answer.Cone, err = n.verdicts(payload, mutations); err != nil {
		return nil, err
	}

	cones := n.cones()
	defer cones.release()
	if _, _, err := whiteflag.ConfirmMilestone(
		n.ledger,
		cones.parents,
		cones.blocks.CachedBlock,
		parameters,
		n.genesisIndex,
		payload,
		whiteflag.DefaultWhiteFlagTraversalCondition,
		whiteflag.DefaultCheckBlockReferencedFunc,
		whiteflag.DefaultSetBlockReferencedFunc,
		nil, nil, nil, nil, nil, nil,
	); err != nil {
		answer.Error = err.Error()
		return answer, nil
	}
	n.protocol.HandleConfirmedMilestone(payload)
	return answer, nil
}

func rootsOf(mutations *whiteflag.WhiteFlagMutations) roots {
	return roots{
		Inclusion: iotago.EncodeHex(mutations.InclusionMerkleRoot[:]),
		Applied:   iotago.EncodeHex(mutations.AppliedMerkleRoot[:]),
	}
}

func (n *node) verdicts(payload *iotago.Milestone, mutations *whiteflag.WhiteFlagMutations) ([]verdict, error) {
	cone := make([]verdict, len(mutations.ReferencedBlocks))
	hasConflict := false
	for i, block := range mutations.ReferencedBlocks {
		cone[i] = verdict{ID: block.BlockID.ToHex(), State: "included", Conflict: uint8(block.Conflict)}
		switch {
		case !block.IsTransaction:
			cone[i].State = "noTransaction"
		case block.Conflict != storage.ConflictNone:
			cone[i].State = "conflicting"
			hasConflict = true
		}
	}
	for i := 1; hasConflict && i < repeats; i++ {
		again, err := n.mutations(payload.Index, payload.Timestamp, payload.Parents, payload.PreviousMilestoneID)
		if err != nil {
			return nil, err
		}
		for j, block := range again.ReferencedBlocks {
			cone[j].add(uint8(block.Conflict))
		}
	}
	return cone, nil
}

func (v *verdict) add(conflict uint8) {
	if conflict == v.Conflict {
		return
	}
	for _, known := range v.Also {
		if known == conflict {
			return
		}
	}
	v.Also = append(v.Also, conflict)
}

// takeProposal answers as HORNET's white flag over INX does: about the next milestone alone.
func (n *node) takeProposal(asked *proposal) (*proposalAnswer, error) {
	if asked == nil {
		return nil, fmt.Errorf("a proposal without a request")
	}
	answer := &proposalAnswer{Type: "proposal", Index: asked.Index}
	parents, err := blockIDs(asked.Parents)
	if err != nil {
		return nil, err
	}
	var previous iotago.MilestoneID
	if err := fill(previous[:], asked.PreviousMilestoneID); err != nil {
		return nil, err
	}
	index, err := n.ledger.ReadLedgerIndex()
	if err != nil {
		return nil, err
	}
	if asked.Index != index+1 {
		answer.Error = fmt.Sprintf("about %d while the ledger is at %d", asked.Index, index)
		return answer, nil
	}
	mutations, err := n.mutations(asked.Index, asked.Timestamp, parents, previous)
	if err != nil {
		answer.Error = err.Error()
		return answer, nil
	}
	answer.roots = rootsOf(mutations)
	return answer, nil
}
