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
	core/directions.hpp core/directions.cpp \
	core/distance.hpp core/distance.cpp \
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
	core/sched_handle.hpp \
	core/schedule_api.cpp \
	core/segments.hpp core/segments.cpp \
	core/stats.hpp core/stats.cpp \
	core/stream.hpp core/stream.cpp \
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

fsbml_shim_sources = \
	bml_fsbml.h \
	bml_fsbml_compat.h \
	bml_fsbml_faults.h \
	bml_fsbml_handles.h \
	bml_fsbml_hooks.h \
	bml_fsbml_measure.h \
	bml_fsbml_names.h \
	bml_fsbml_packet.h \
	bml_fsbml_pairs.h \
	bml_fsbml_params.h \
	bml_fsbml_send.h \
	bml_fsbml_version.h \
	bml_fsbml.c \
	bml_fsbml_ask.c \
	bml_fsbml_benchmark.c \
	bml_fsbml_bound.c \
	bml_fsbml_away.c \
	bml_fsbml_btl.c \
	bml_fsbml_cache.c \
	bml_fsbml_calibrate.c \
	bml_fsbml_classes.c \
	bml_fsbml_closing.c \
	bml_fsbml_component.c \
	bml_fsbml_diagnose.c \
	bml_fsbml_display.c \
	bml_fsbml_echo.c \
	bml_fsbml_end.c \
	bml_fsbml_endpoint.c \
	bml_fsbml_fallback.c \
	bml_fsbml_far.c \
	bml_fsbml_faults.c \
	bml_fsbml_files.c \
	bml_fsbml_goodbye.c \
	bml_fsbml_handles.c \
	bml_fsbml_held.c \
	bml_fsbml_help.c \
	bml_fsbml_job.c \
	bml_fsbml_kernel.c \
	bml_fsbml_kvs.c \
	bml_fsbml_ledger.c \
	bml_fsbml_limits.c \
	bml_fsbml_mirror.c \
	bml_fsbml_names.c \
	bml_fsbml_observe.c \
	bml_fsbml_onesided.c \
	bml_fsbml_packet.c \
	bml_fsbml_pairing.c \
	bml_fsbml_pairs.c \
	bml_fsbml_params.c \
	bml_fsbml_path.c \
	bml_fsbml_place.c \
	bml_fsbml_prior.c \
	bml_fsbml_procs.c \
	bml_fsbml_proof.c \
	bml_fsbml_prtt.c \
	bml_fsbml_put.c \
	bml_fsbml_pvars.c \
	bml_fsbml_rails.c \
	bml_fsbml_rdma.c \
	bml_fsbml_rdma_entry.c \
	bml_fsbml_record.c \
	bml_fsbml_recv.c \
	bml_fsbml_refused.c \
	bml_fsbml_silence.c \
	bml_fsbml_stream.c \
	bml_fsbml_sweep.c \
	bml_fsbml_measurement.c \
	bml_fsbml_table.c \
	bml_fsbml_together.c

# One of the two, by what the headers offer (configure.m4).
fsbml_hooks_stock_sources = bml_fsbml_hooks_stock.c
fsbml_hooks_patched_sources = bml_fsbml_hooks_patched.c

fsbml_help = help-mca-bml-fsbml.txt
