# The component's files, named once for both builds: inside an Open MPI tree and on its own.
# Paths are relative to this folder.

fsbml_core_sources = \
	core/bucket.hpp core/bucket.cpp \
	core/c_api.hpp \
	core/calibration_api.cpp \
	core/classes.hpp core/classes.cpp \
	core/classes_api.cpp \
	core/counters.hpp \
	core/diagnosis.hpp core/diagnosis.cpp \
	core/diagnosis_api.cpp \
	core/digest.hpp \
	core/directions.hpp core/directions.cpp \
	core/distance.hpp core/distance.cpp \
	core/end.hpp core/end.cpp \
	core/failed.hpp \
	core/fixed.hpp \
	core/fsbml_about.h \
	core/fsbml_base.h \
	core/fsbml_calibration.h \
	core/fsbml_classes.h \
	core/fsbml_core.h \
	core/fsbml_diagnosis.h \
	core/fsbml_observe.h \
	core/fsbml_schedule.h \
	core/fsbml_table.h \
	core/gaps.hpp core/gaps.cpp \
	core/handles.hpp \
	core/holdout.hpp core/holdout.cpp \
	core/interval.hpp core/interval.cpp \
	core/json.hpp core/json.cpp \
	core/ledger.hpp core/ledger.cpp \
	core/ledger_file.hpp core/ledger_file.cpp \
	core/loggp.hpp core/loggp.cpp \
	core/loggp_fit.hpp core/loggp_fit.cpp \
	core/models.hpp core/models.cpp \
	core/observe_api.cpp \
	core/observer.hpp core/observer.cpp \
	core/overheads.hpp core/overheads.cpp \
	core/pairs.hpp core/pairs.cpp \
	core/pilot.hpp core/pilot.cpp \
	core/plan.hpp core/plan.cpp \
	core/policy.hpp core/policy.cpp \
	core/predict.hpp core/predict.cpp \
	core/whole_file.hpp core/whole_file.cpp \
	core/progress.hpp core/progress.cpp \
	core/prtt.hpp core/prtt.cpp \
	core/rail.hpp \
	core/remark.hpp \
	core/measurement.hpp core/measurement.cpp \
	core/rounds.cpp \
	core/samples.hpp \
	core/schedule_api.cpp \
	core/segments.hpp core/segments.cpp \
	core/stats.hpp core/stats.cpp \
	core/stream.hpp core/stream.cpp \
	core/sweep.hpp core/sweep.cpp \
	core/sweep_api.cpp \
	core/table.hpp core/table.cpp \
	core/table_api.cpp \
	core/table_file.hpp core/table_file.cpp \
	core/together.hpp core/together.cpp \
	core/turns.hpp core/turns.cpp \
	core/vft_charge.hpp \
	core/vft_scheduler.hpp core/vft_scheduler.cpp \
	core/wire.hpp

fsbml_explain_sources = \
	explain/account.hpp explain/account.cpp \
	explain/figures.hpp explain/figures.cpp \
	explain/fsbml_explain.h \
	explain/fsbml_trace.h \
	explain/json.hpp explain/json.cpp \
	explain/merge.hpp explain/merge.cpp \
	explain/page.hpp explain/page.cpp \
	explain/plots.hpp explain/plots.cpp \
	explain/record_name.cpp \
	explain/report_api.cpp \
	explain/style.hpp \
	explain/summary_api.cpp \
	explain/summary_wire.hpp explain/summary_wire.cpp \
	explain/text.hpp explain/text.cpp \
	explain/trace_api.cpp \
	explain/trace_file.hpp explain/trace_file.cpp \
	explain/verdict.hpp explain/verdict.cpp

# By rooms, the lowest first but for the door.
fsbml_shim_sources = \
	bml_fsbml.h \
	bml_fsbml.c \
	bml_fsbml_component.c \
	bml_fsbml_lists.c \
	bml_fsbml_procs.c \
	compat/compat.h \
	compat/fsbml_version.h \
	compat/closing.c \
	compat/fallback.c \
	compat/goodbye.c \
	compat/help.c \
	compat/kvs.c \
	compat/pairing.c \
	params/params.h \
	params/params.c \
	rails/rails.h \
	rails/echo.c \
	rails/end.c \
	rails/files.c \
	rails/kernel.c \
	rails/ledger.c \
	rails/names.c \
	rails/place.c \
	rails/rail.c \
	rails/rails.c \
	peers/hooks.h \
	peers/peers.h \
	peers/ask.c \
	peers/diagnose.c \
	peers/endpoint.c \
	peers/far.c \
	peers/packet.c \
	peers/path.c \
	peers/peers.c \
	peers/proof.c \
	send/send.h \
	send/btl.c \
	send/handles.c \
	send/held.c \
	send/limits.c \
	send/observe.c \
	send/onesided.c \
	send/rdma.c \
	send/rdma_setup.c \
	send/recv.c \
	send/refused.c \
	send/send.c \
	measure/measure.h \
	measure/benchmark.c \
	measure/cache.c \
	measure/calibrate.c \
	measure/classes.c \
	measure/measurement.c \
	measure/pairs.c \
	measure/prtt.c \
	measure/stream.c \
	measure/sweep.c \
	measure/table.c \
	measure/together.c \
	report/report.h \
	report/display.c \
	report/job.c \
	report/pvars.c \
	report/record.c \
	report/report.c

# One of the two, by what the headers offer (configure.m4).
fsbml_hooks_stock_sources = peers/hooks_stock.c
fsbml_hooks_patched_sources = peers/hooks_patched.c

fsbml_help = help-mca-bml-fsbml.txt
