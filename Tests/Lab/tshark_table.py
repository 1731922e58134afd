"""How what tshark calls a field is called in our values: for each characteristic that it dissects by itself.

A line is `FIELD MEMBER`, or `FIELD MEMBER SCALE` where we multiply what tshark shows. FIELD lacks `btatt.`. `time MEMBER` stands for its
six fields of a date. A member of a list of objects has its first element's number: `records.0.quality_percent`. `ONE|OTHER` are members that tshark gives one name; those that are there stand in
this order. `?MEMBER` is compared where we have it: tshark shows the bits also where nothing is said.
"""

STATUS = """
cgm.sensor_status_annunciation.status.session_stopped session_stopped
cgm.sensor_status_annunciation.status.device_battery_low battery_low
cgm.sensor_status_annunciation.status.sensor_type_incorrect_for_device sensor_type_incorrect
cgm.sensor_status_annunciation.status.sensor_malfunction sensor_malfunction
cgm.sensor_status_annunciation.status.device_specific_alert device_specific_alert
cgm.sensor_status_annunciation.status.general_device_fault_has_occurred_in_the_sensor device_fault
CAL.time_synchronization_between_sensor_and_collector_required time_sync_required
CAL.calibration_not_allowed calibration_not_allowed
CAL.calibration_recommended calibration_recommended
CAL.calibration_required calibration_required
CAL.sensor_temperature_too_high_for_valid_test_result_at_time_of_measurement temperature_too_high
cgm.sensor_status_annunciation.cal_temp.sensor_temperature_too_low_for_valid_test_result_at_time_of_measurement temperature_too_low
WARN.sensor_result_lower_than_the_patient_low_level below_patient_low
WARN.sensor_result_higher_than_the_patient_high_level above_patient_high
WARN.sensor_result_lower_than_the_hypo_level below_hypo
WARN.sensor_result_higher_than_the_hyper_level above_hyper
WARN.sensor_rate_of_decrease_exceeded falling_fast
WARN.sensor_rate_of_increase_exceeded rising_fast
WARN.sensor_result_lower_than_the_device_can_process below_device_range
cgm.sensor_status_annunciation.warning.sensor_result_higher_than_the_device_can_process above_device_range
""".replace("CAL.", "cgm_measurement.sensor_cal_temp_annunciation.cal_temp.").replace(
    "WARN.", "cgm_measurement.sensor_warning_annunciation.warning.")

PRESSURE = """
BPM.pulse_rate pulse_bpm
BPM.status.body_movement body_movement
BPM.status.cuff_fit_too_loose cuff_too_loose
BPM.status.irregular_pulse irregular_pulse
BPM.status.pulse_rate_range_detection pulse_rate_range
BPM.status.improper_measurement_position improper_position
time measured_at
BPM.user_id user_id
"""

OXIMETRY = """
PLX.measurement_status.measurement_ongoing ongoing
PLX.measurement_status.early_estimated_data early_estimate
PLX.measurement_status.validated_data validated
PLX.measurement_status.fully_qualified_data fully_qualified
PLX.measurement_status.data_from_measurement_storage from_storage
PLX.measurement_status.data_for_demonstration for_demonstration
PLX.measurement_status.data_for_testing for_testing
PLX.measurement_status.calibration_ongoing calibration_ongoing
PLX.measurement_status.measurement_unavailable unavailable
PLX.measurement_status.questionable_measurement_detected questionable
PLX.measurement_status.invalid_measurement_detected invalid
PLX.pulse_amplitude_index pulse_amplitude_percent
"""

TABLE = {
    "2a06": "alert_level alert_level",
    "2a07": "tx_power_level tx_power_dbm",
    "2a18": """
GM.sequence_number sequence
time measured_at
GM.time_offset time_offset_min
GM.glucose_concentration.kg_per_l glucose_mg_per_dl 100000
GM.glucose_concentration.mol_per_l glucose_mmol_per_l 1000
GM.type_and_sample_location.type sample_type
GM.type_and_sample_location.sample_location sample_location
GM.flags.context_information_follows context_follows
GM.sensor_status_annunciation.battery_low battery_low
GM.sensor_status_annunciation.fault sensor_malfunction
GM.sensor_status_annunciation.size_insufficient sample_insufficient
GM.sensor_status_annunciation.strip_insertion_error strip_insertion_error
GM.sensor_status_annunciation.strip_type_incorrect strip_type_incorrect
GM.sensor_status_annunciation.result_too_high result_too_high
GM.sensor_status_annunciation.result_too_lower result_too_low
GM.sensor_status_annunciation.temperature_too_high temperature_too_high
GM.sensor_status_annunciation.temperature_too_low temperature_too_low
GM.sensor_status_annunciation.read_interrupted read_interrupted
GM.sensor_status_annunciation.general_fault device_fault
GM.sensor_status_annunciation.time_fault time_fault
""".replace("GM.", "glucose_measurement."),
    "2a19": "battery_level battery_percent",
    "2a1c": "time measured_at\ntemperature_type place",
    "2a1d": "temperature_type place",
    "2a1e": "time measured_at\ntemperature_type place",
    "2a21": "measurement_interval interval_s",
    "2a24": "model_number_string model",
    "2a25": "serial_number_string serial_number",
    "2a26": "firmware_revision_string firmware",
    "2a27": "hardware_revision_string hardware",
    "2a28": "software_revision_string software",
    "2a29": "manufacturer_string manufacturer",
    "2a34": """
GMC.sequence_number sequence
GMC.carbohydrate_id carbohydrate
GMC.carbohydrate.kg carbohydrate_g 1000
GMC.meal meal
GMC.exercise_duration exercise_s
GMC.exercise_intensity exercise_intensity_percent
GMC.medication_id medication
GMC.medication.kg medication_mg 1000000
GMC.medication.l medication_ml 1000
GMC.hba1c hba1c_percent
""".replace("GMC.", "glucose_measurement_context."),
    "2a35": ("""
BPM.compound_value.systolic.mmhg systolic_mmhg
BPM.compound_value.diastolic.mmhg diastolic_mmhg
BPM.compound_value.arterial_pressure.mmhg mean_mmhg
BPM.compound_value.systolic.kpa systolic_kpa
BPM.compound_value.diastolic.kpa diastolic_kpa
BPM.compound_value.arterial_pressure.kpa mean_kpa
""" + PRESSURE).replace("BPM.", "blood_pressure_measurement."),
    "2a36": ("""
BPM.compound_value.systolic.mmhg cuff_pressure_mmhg
BPM.compound_value.systolic.kpa cuff_pressure_kpa
""" + PRESSURE).replace("BPM.", "blood_pressure_measurement."),
    "2a37": """
heart_rate_measurement.value.8|heart_rate_measurement.value.16 bpm
heart_rate_measurement.energy_expended energy_kj
heart_rate_measurement.rr_interval rr_s 1/1024
""",
    "2a38": "body_sensor_location location",
    "2a49": """
BPF.body_movement_detection body_movement_detection
BPF.cuff_fit_detection cuff_fit_detection
BPF.irregular_pulse_detection irregular_pulse_detection
BPF.puls_rate_range pulse_rate_range_detection
BPF.measurement_position_detection position_detection
BPF.multiple_bond multiple_bonds
""".replace("BPF.", "blood_pressure.feature."),
    "2a51": """
GF.low_battery_detection_during_measurement low_battery_detection
GF.sensor_malfunction_detection malfunction_detection
GF.sensor_sample_size sample_size_detection
GF.sensor_strip_insertion_error_detection strip_insertion_detection
GF.sensor_strip_type_error_detection strip_type_detection
GF.sensor_result_high_low_detection result_range_detection
GF.sensor_temperature_high_low_detection temperature_range_detection
GF.sensor_read_interrupt_detection read_interrupt_detection
GF.general_device_fault device_fault_detection
GF.time_fault time_fault_detection
GF.multiple_bond multiple_bonds
""".replace("GF.", "glucose.feature."),
    "2a52": """
record_access_control_point.request_opcode request
record_access_control_point.response_code result
record_access_control_point_operand.number_of_records record_count
""",
    "2a53": """
rsc_measurement.instantaneous_speed speed_m_per_s 1/256
rsc_measurement.instantaneous_cadence cadence_per_min
rsc_measurement.instantaneous_stride_length stride_m 0.01
rsc_measurement.total_distance distance_m 0.1
rsc_measurement.flags.type_of_movement running
""",
    "2a54": """
rsc.feature.instantaneous_stride_length_measurement stride_length
rsc.feature.total_distance_measurement total_distance
rsc.feature.walking_or_running_status running_status
rsc.feature.calibration_procedure calibration
rsc.feature.multiple_sensor_locations multiple_locations
""",
    "2a58": "analog analog_level",
    "2a5b": """
csc_measurement.cumulative_wheel_revolutions wheel_revolution_count
csc_measurement.cumulative_crank_revolutions crank_revolution_count
csc_measurement.last_event_time wheel_time_s|crank_time_s 1/1024
""",
    "2a5c": """
csc.feature.wheel_revolution_data wheel_revolutions
csc.feature.crank_revolution_data crank_revolutions
csc.feature.multiple_sensor_locations multiple_locations
""",
    "2a5d": "sensor_location location",
    "2a5e": ("""
PLX.spo2 spo2_percent
PLX.pulse_rate pulse_bpm
PLX.flags.device_clock_is_not_set clock_not_set
time measured_at
""" + OXIMETRY).replace("PLX.", "plxs.spot_check_measurement."),
    "2a5f": ("""
PLX.spo2 spo2_percent|fast_spo2_percent|slow_spo2_percent
PLX.pulse_rate pulse_bpm|fast_pulse_bpm|slow_pulse_bpm
""" + OXIMETRY).replace("PLX.", "plxs.spot_check_measurement."),
    "2a60": """
PF.measurement_status measurement_status
PF.device_and_sensor_status device_status
PF.measurement_storage_for_spot_check stored_measurements
PF.timestamp_storage_for_spot_check timestamps
PF.spo2pr_fast fast_values
PF.spo2pr_slow slow_values
PF.pulse_amplitude_index pulse_amplitude
PF.multiple_bonds multiple_bonds
""".replace("PF.", "plxs.features.supported_features."),
    "2a63": """
CPM.instantaneous_power power_w
CPM.pedal_power_balance pedal_balance_percent 0.5
CPM.accumulated_torque accumulated_torque_nm 1/32
CPM.wheel_revolution_data_cumulative_wheel_revolutions wheel_revolution_count
CPM.wheel_revolution_data_last_wheel_event_time wheel_time_s 1/2048
CPM.crank_revolution_data_cumulative_crank_revolutions crank_revolution_count
CPM.crank_revolution_data_last_crank_event_time crank_time_s 1/1024
CPM.extreme_force_magnitudes_maximum_force_magnitude maximum_force_n
CPM.extreme_force_magnitudes_minimum_force_magnitude minimum_force_n
CPM.extreme_torque_magnitudes_maximum_torque_magnitude maximum_torque_nm 1/32
CPM.extreme_torque_magnitudes_minimum_torque_magnitude minimum_torque_nm 1/32
CPM.top_dead_spot_angle top_dead_spot_deg
CPM.bottom_dead_spot_angle bottom_dead_spot_deg
CPM.accumulated_energy energy_kj
CPM.flags.offset_compensation_indicator offset_compensation
""".replace("CPM.", "cycling_power_measurement."),
    "2a64": """
csc_measurement.cumulative_crank_revolutions crank_revolution_count
csc_measurement.last_crank_event_time crank_time_s 1/1024
csc_measurement.first_crank_measurement_angle first_angle_deg
csc_measurement.instantaneous_force_magnitude_array force_n
cycling_power_vector.flags.instantaneous_measurement_direction direction
""",
    "2a65": """
CPF.pedal_power_balance pedal_balance
CPF.accumulated_torque accumulated_torque
CPF.wheel_revolution_data wheel_revolutions
CPF.crank_revolution_data crank_revolutions
CPF.extreme_magnitudes extreme_magnitudes
CPF.extreme_angles extreme_angles
CPF.top_and_bottom_dead_spot_angles dead_spot_angles
CPF.accumulated_energy accumulated_energy
CPF.offset_compensation_indicator offset_compensation_indicator
CPF.offset_compensation offset_compensation
CPF.cycling_power_measurement_characteristic_content_masking content_masking
CPF.multiple_sensor_locations multiple_locations
CPF.crank_length_adjustment crank_length
CPF.chain_length_adjustment chain_length
CPF.chain_weight_adjustment chain_weight
CPF.span_length_adjustment span_length
CPF.sensor_measurement_context torque_based
CPF.instantaneous_measurement_direction measurement_direction
CPF.factory_calibration_date calibration_date
""".replace("CPF.", "cycling_power_feature."),
    "2a67": """
LS.instantaneous_speed speed_m_per_s 0.01
LS.total_distance distance_m 0.1
LS.location.latitude latitude_deg 0.0000001
LS.location.longitude longitude_deg 0.0000001
LS.elevation elevation_m 0.01
LS.heading heading_deg 0.01
LS.flags.position_status position
LS.flags.speed_and_distance_format three_dimensional
LS.flags.elevation_source ?elevation_source
LS.flags.heading_source ?heading_source
""".replace("LS.", "location_and_speed."),
    "2a68": """
navigation.bearing bearing_deg 0.01
navigation.heading heading_deg 0.01
navigation.flags.position_status position
navigation.flags.heading_source heading_source
navigation.flags.navigation_indicator_type indicator
navigation.flags.waypoint_reached waypoint_reached
navigation.flags.destination_reached destination_reached
""",
    "2a69": """
position_quality.number_of_beacons_in_solution beacons_in_solution_count
position_quality.number_of_beacons_in_view beacons_in_view_count
position_quality.flags.position_status position
""",
    "2a6c": "elevation elevation_m 0.01",
    "2a6d": "pressure pressure_pa 0.1",
    "2a6e": "temperature temperature_c 0.01",
    "2a6f": "humidity humidity_percent 0.01",
    "2a70": "true_wind_speed true_wind_speed_m_per_s 0.01",
    "2a71": "true_wind_direction true_wind_direction_deg 0.01",
    "2a72": "apparent_wind_speed apparent_wind_speed_m_per_s 0.01",
    "2a73": "apparent_wind_direction apparent_wind_direction_deg 0.01",
    "2a76": "uv_index uv_index",
    "2a79": "wind_chill wind_chill_c",
    "2a7a": "heart_index heat_index_c",
    "2a7b": "dew_point dew_point_c",
    "2a9b": """
BCF.timestamp timestamps
BCF.multiple_users multiple_users
BCF.basal_metabolism basal_metabolism
BCF.muscle_percentage muscle_percentage
BCF.muscle_mass muscle_mass
BCF.fat_free_mass fat_free_mass
BCF.soft_lean_mass soft_lean_mass
BCF.body_water_mass body_water_mass
BCF.impedance impedance
BCF.weight weight
BCF.height height
BCF.mass_measurement_resolution weight_resolution
BCF.height_measurement_resolution height_resolution
""".replace("BCF.", "body_composition_feature."),
    "2a9c": """
BCM.body_fat_percentage body_fat_percent 0.1
BCM.flags.multiple_packet_measurement multiple_packets
time measured_at
BCM.user_id user_id
""".replace("BCM.", "body_composition_measurement."),
    "2a9d": """
WM.weight.kg weight_kg 0.005
WM.weight.lb weight_lb 0.01
time measured_at
WM.user_id user_id
WM.bmi bmi_kg_per_m2 0.1
WM.height.m height_m 0.001
WM.height.in height_in 0.1
""".replace("WM.", "weight_measurement."),
    "2a9e": """
WSF.timestamp timestamps
WSF.multiple_users multiple_users
WSF.bmi bmi
WSF.weight_measurement_resolution weight_resolution
WSF.height_measurement_resolution height_resolution
""".replace("WSF.", "weight_scale_feature."),
    "2aa3": "barometric_pressure_trend pressure_trend",
    "2aa7": """
CGM.glucose_concentration records.0.glucose_mg_per_dl
CGM.time_offset records.0.time_offset_min
CGM.trend_information records.0.trend_mg_per_dl_per_min
CGM.quality records.0.quality_percent
""".replace("CGM.", "cgm_measurement.") + STATUS.replace(" ", " records.0."),
    "2aa8": """
CF.calibration calibration
CF.patient_high_low_alerts patient_alerts
CF.hypo_alerts hypo_alerts
CF.hyper_alerts hyper_alerts
CF.rate_of_increase_decrease_alerts rate_alerts
CF.device_specific_alert device_specific_alert
CF.sensor_malfunction_detection malfunction_detection
CF.sensor_temperature_high_low_detection temperature_range_detection
CF.sensor_result_high_low_detection result_range_detection
CF.low_battery_detection low_battery_detection
CF.sensor_type_error_detection sensor_type_detection
CF.general_device_fault device_fault_detection
CF.e2e_crc e2e_crc
CF.multiple_bond multiple_bonds
CF.multiple_sessions multiple_sessions
CF.trend_information trend
CF.quality quality
""".replace("CF.", "cgm_feature.feature."),
    "2aa9": "cgm.time_offset time_offset_min" + STATUS,
    "2aaa": "time started_at\ntimezone time_zone_min 15\ndst_offset dst_offset_min 15",
    "2aab": "cgm.session_run_time run_time_h",
    "2aac": """
cgm_specific_ops_control_point.request_opcode request
cgm_specific_ops_control_point.response_code result
""",
    "2aad": """
IPC.coordinates coordinates
IPC.coordinate_system coordinate_system
IPC.tx_power tx_power
IPC.altitude altitude
IPC.floor_number floor
IPC.location_name location_name
""".replace("IPC.", "indoor_positioning_configuration."),
    "2ab5": "location_name location",
    "2ad3": "training_status.status training\ntraining_status.status_string text",
    "2ad8": """
supported_power_range.minimum_power minimum_power_w
supported_power_range.maximum_power maximum_power_w
supported_power_range.minimum_increment power_increment_w
""",
}

# What tshark 4.0 reads otherwise than the SIG's supplement has it; of these only the bytes are compared.
MISREAD = {
    "2a1c and 2a1e temperature": "a FLOAT comes out as 0",
    "2a34 tester and health": "the two halves of the byte are exchanged",
    "2a63 extreme angles": "they are taken from the high bits",
    "2a9c behind user_id": "nothing more is dissected",
    "2aa8 sample type and location": "the two halves of the byte are exchanged",
    "2acc features": "their bits are counted from the other end",
}
