package runs

// The views of mpitx report. ReportTables are those of a profile.
const (
	ViewOverview      = "overview"
	ViewFunctions     = "functions"
	ViewSites         = "sites"
	ViewRanks         = "ranks"
	ViewPhases        = "phases"
	ViewCommunicators = "communicators"
	ViewSizes         = "sizes"
	ViewAlgorithms    = "algorithms"
	ViewArrivals      = "arrivals"
	ViewAdvice        = "advice"
	ViewMatrix        = "matrix"
	ViewPaths         = "paths"
	ViewQueues        = "queues"
	ViewWaits         = "waits"
	ViewSamples       = "samples"
	ViewEvents        = "events"
	ViewTriggers      = "triggers"
)

// ReportTables are the tables of a report, in its order.
var ReportTables = []string{ViewFunctions, ViewSites, ViewRanks, ViewPhases, ViewCommunicators, ViewSizes, ViewAlgorithms, ViewArrivals}
