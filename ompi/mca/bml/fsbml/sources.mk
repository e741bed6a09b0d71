# The component's files, named once for both builds: inside an Open MPI tree and on its own.
# Paths are relative to this folder.

# By rooms, the lowest first.
fsbml_core_sources = \
	core/api/fsbml_base.h core/api/fsbml_calibration.h core/api/fsbml_classes.h core/api/fsbml_core.h \
	core/api/fsbml_delivery.h core/api/fsbml_diagnosis.h core/api/fsbml_explain.h core/api/fsbml_flow.h \
	core/api/fsbml_observe.h core/api/fsbml_schedule.h core/api/fsbml_table.h core/api/fsbml_trace.h \
	core/model/model.hpp core/model/loggp.cpp core/model/predict.cpp core/model/stats.cpp \
	core/formats/formats.hpp core/formats/wire.hpp core/formats/text.cpp core/formats/json.cpp \
	core/formats/whole_file.cpp \
	core/records/records.hpp core/records/end.cpp core/records/measurement.cpp core/records/pairs.cpp \
	core/records/table.cpp core/records/table_file.cpp \
	core/ledger/ledger.hpp core/ledger/ledger.cpp core/ledger/ledger_file.cpp \
	core/schedule/schedule.hpp core/schedule/models.hpp core/schedule/cut.cpp core/schedule/models.cpp \
	core/schedule/observer.cpp core/schedule/policy.cpp core/schedule/vft_scheduler.cpp \
	core/measure/samples/samples.hpp core/measure/samples/gaps.cpp core/measure/samples/segments.cpp \
	core/measure/fit/fit.hpp core/measure/fit/bucket.cpp core/measure/fit/directions.cpp \
	core/measure/fit/interval.cpp core/measure/fit/loggp_fit.cpp core/measure/fit/overheads.cpp \
	core/measure/prtt/prtt.hpp core/measure/prtt/holdout.cpp core/measure/prtt/pilot.cpp \
	core/measure/prtt/plan.cpp core/measure/prtt/progress.cpp core/measure/prtt/prtt.cpp \
	core/measure/prtt/rounds.cpp \
	core/measure/start/start.hpp core/measure/start/backlog.cpp core/measure/start/classes.cpp core/measure/start/stream.cpp \
	core/measure/start/sweep.cpp core/measure/start/together.cpp \
	core/flow/flow.hpp core/flow/distance.cpp core/flow/feedback.cpp core/flow/live_rate.cpp \
	core/flow/pauses.cpp core/flow/windows.cpp \
	core/delivery/path/path.hpp core/delivery/path/frame.hpp core/delivery/path/incoming.cpp \
	core/delivery/path/kept.cpp core/delivery/path/outgoing.cpp \
	core/delivery/peer/peer.hpp core/delivery/peer/control.cpp core/delivery/peer/delivery.cpp \
	core/delivery/peer/peer.cpp core/delivery/peer/receiver.cpp core/delivery/peer/sender.cpp \
	core/explain/account/account.hpp core/explain/account/account.cpp core/explain/account/changes.cpp \
	core/explain/account/merge.cpp core/explain/account/summary_wire.cpp core/explain/account/trace_file.cpp \
	core/explain/verdict/verdict.hpp core/explain/verdict/diagnosis.cpp core/explain/verdict/figures.cpp \
	core/explain/verdict/rates.cpp core/explain/verdict/verdict.cpp \
	core/explain/forms/forms.hpp core/explain/forms/json.cpp core/explain/forms/page.cpp \
	core/explain/forms/plan.cpp core/explain/forms/plots.cpp core/explain/forms/text.cpp \
	core/door/door.hpp core/door/calibration_api.cpp core/door/classes_api.cpp core/door/delivery_api.cpp \
	core/door/diagnosis_api.cpp core/door/flow_api.cpp core/door/observe_api.cpp core/door/report_api.cpp \
	core/door/schedule_api.cpp core/door/summary_api.cpp core/door/sweep_api.cpp core/door/table_api.cpp

# It is compiled a room at a time, by sources that make writes: a third of the time that its files take one by one. What takes
# longest first, so that no processor has to wait for it.
fsbml_core_rooms = \
	core/explain/forms.cpp core/measure/start.cpp core/explain/verdict.cpp core/door.cpp \
	core/measure/prtt.cpp core/schedule.cpp core/explain/account.cpp core/flow.cpp core/records.cpp \
	core/formats.cpp core/measure/fit.cpp core/measure/samples.cpp core/delivery/peer.cpp core/ledger.cpp \
	core/model.cpp core/delivery/path.cpp

# Likewise, but for the door.
fsbml_shim_sources = \
	bml_fsbml.h bml_fsbml.c bml_fsbml_component.c bml_fsbml_lists.c bml_fsbml_procs.c \
	compat/compat.h compat/events.h compat/fsbml_version.h compat/closing.c compat/events.c compat/fallback.c compat/goodbye.c \
	compat/help.c compat/kvs.c compat/pairing.c compat/socket.c \
	params/params.h params/params.c \
	rails/rails.h rails/connection.c rails/echo.c rails/end.c rails/files.c rails/kernel.c \
	rails/ledger.c rails/names.c rails/place.c rails/rail.c rails/rails.c \
	peers/hooks.h peers/peers.h peers/ask.c peers/diagnose.c peers/endpoint.c peers/away.c \
	peers/packet.c peers/path.c peers/peers.c peers/proof.c \
	flow/flow.h flow/flow.c flow/latency.c flow/sockets.c \
	failover/failover.h failover/act.c failover/failover.c failover/framed.c failover/message.c \
	failover/memory.c failover/peer.c failover/renew.c \
	send/send.h send/btl.c send/handles.c send/held.c send/limits.c send/observe.c send/onesided.c \
	send/rdma.c send/rdma_setup.c send/recv.c send/refused.c send/send.c \
	pieces/pieces.h pieces/pieces.c pieces/together.c \
	measure/measure.h measure/benchmark.c measure/cache.c measure/calibrate.c measure/classes.c \
	measure/measurement.c measure/pairs.c measure/prtt.c measure/stream.c measure/sweep.c \
	measure/table.c measure/together.c \
	report/report.h report/display.c report/job.c report/pvars.c report/record.c report/report.c \
	report/told.c

# One of the two, by what the headers offer (configure.m4).
fsbml_hooks_stock_sources = peers/hooks_stock.c
fsbml_hooks_patched_sources = peers/hooks_patched.c

fsbml_help = help-mca-bml-fsbml.txt
